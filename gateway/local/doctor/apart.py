"""Looking at things in a process of their own, one after another: what hangs or crashes there takes nothing down."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

_PATH = re.compile(r"(?<![\w.])/(?:[^\s/:'\"]+/)+")


def faults_apart(module: str, arguments: Sequence[str], subjects: Sequence[str], seconds: float) -> Mapping[str, str]:
    """What is wrong with each subject, by a process that runs `module`; "" is nothing.

    Args:
        module: calls `tell_each` on the last of its command line.
        arguments: what it is given before the subjects.
        subjects: what to look at.
        seconds: for all of them together.
    """
    give_up = time.monotonic() + seconds
    faults: dict[str, str] = {}
    left = list(subjects)
    while left:
        told, ending = _run([sys.executable, "-m", module, *arguments, *left], give_up - time.monotonic())
        faults |= told
        left = [subject for subject in left if subject not in told]
        if left:
            faults[left.pop(0)] = ending
        if time.monotonic() >= give_up:
            faults |= dict.fromkeys(left, "There was no time left to look at it.")
            break
    return faults


def _run(command: Sequence[str], seconds: float) -> tuple[dict[str, str], str]:
    """What the process told, and how it ended."""
    process = subprocess.Popen(  # noqa: S603 - our own module
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output, errors = process.communicate(timeout=max(seconds, 0))
        ending = _ending(process.returncode, errors)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        ending = "It did not end in time."
    return dict(json.loads(line) for line in output.splitlines()), ending


def _ending(code: int, errors: bytes) -> str:
    """How a process ended that told nothing, and the last thing it complained of."""
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    last = errors.decode(errors="replace").strip().rpartition("\n")[2]
    return f"It ended its process ({how}). {without_paths(last)}".strip()


def tell_each(subjects: Sequence[str], look: Callable[[str], str]) -> None:
    """In that process: look at each subject, and tell at once. What else writes to standard output goes to error."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        for subject in subjects:
            out.write(json.dumps([subject, look(subject)]) + "\n")
            out.flush()


def without_paths(text: str) -> str:
    """`text` with every file named without its folder."""
    return _PATH.sub("", text)
