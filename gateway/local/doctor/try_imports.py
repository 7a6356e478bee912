"""Run in a process of its own: import each of the modules named on the command line."""

from __future__ import annotations

import importlib
import sys

from gateway.local.doctor.apart import tell_each, without_paths


def fault_of(module: str) -> str:
    """Import a module. Returns why that does not work; "" when it does."""
    try:
        importlib.import_module(module)
    except (ImportError, OSError, RuntimeError, AttributeError, ValueError, TypeError, SyntaxError) as error:
        return without_paths(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
    return ""


if __name__ == "__main__":
    tell_each(sys.argv[1:], fault_of)
