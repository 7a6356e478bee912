"""Python and the packages: what is installed against what the distribution's own metadata asks for."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gateway.local.doctor.findings import Finding, ok, problem

_CORE = "Install Maquette again, e.g. with `make core` in its folder."
ENGINE_REMEDY = "Install the engine extra again: `uv sync --extra engine`."


@dataclass(frozen=True, slots=True)
class Needed:
    """A requirement, and the version that is installed."""

    requirement: Requirement
    installed: str | None

    @property
    def met(self) -> bool:
        """Whether an allowed version is there."""
        return self.installed is not None and self.requirement.specifier.contains(self.installed, prereleases=True)


@dataclass(frozen=True, slots=True)
class Installation:
    """What is installed.

    Attributes:
        python: the interpreter's version.
        pythons: which ones Maquette runs on.
        core: what it always needs.
        engine: what the `engine` extra needs.
        torchvision_wants: which torch the installed torchvision was built for; `None` when it does not say.
    """

    python: str
    pythons: SpecifierSet
    core: Sequence[Needed]
    engine: Sequence[Needed]
    torchvision_wants: Requirement | None = None

    @property
    def has_engine(self) -> bool:
        """Whether somebody meant to install the `engine` extra: its two large parts are there, whatever the version."""
        return any(it.installed and it.requirement.name in {"torch", "diffusers"} for it in self.engine)


def look_at_installation() -> Installation | None:
    """What is installed; `None` when Maquette itself is not, as a distribution."""
    try:
        ours = metadata.metadata("maquette")
    except metadata.PackageNotFoundError:
        return None
    requirements = [Requirement(text) for text in metadata.requires("maquette") or ()]
    return Installation(
        python=platform.python_version(),
        pythons=SpecifierSet(ours["Requires-Python"] or ""),
        core=[_needed(it) for it in requirements if it.marker is None or it.marker.evaluate({"extra": ""})],
        engine=[_needed(it) for it in requirements if it.marker is not None and _of_engine(it)],
        torchvision_wants=_torch_of_torchvision(),
    )


def _of_engine(requirement: Requirement) -> bool:
    marker = requirement.marker
    return marker is not None and marker.evaluate({"extra": "engine"}) and not marker.evaluate({"extra": ""})


def _needed(requirement: Requirement) -> Needed:
    return Needed(requirement, _version(requirement.name))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _torch_of_torchvision() -> Requirement | None:
    try:
        wants = [Requirement(text) for text in metadata.requires("torchvision") or ()]
    except metadata.PackageNotFoundError:
        return None
    return next((it for it in wants if it.name == "torch"), None)


def judge_installation(facts: Installation | None) -> Sequence[Finding]:
    """Python, the core, the engine."""
    if facts is None:
        return [problem("packages", "Maquette is not installed as a package in this Python.", _CORE)]
    return [_python(facts), *_core(facts), *_engine(facts)]


def _python(facts: Installation) -> Finding:
    if facts.pythons.contains(facts.python, prereleases=True):
        return ok("Python", f"Python {facts.python}.")
    return problem(
        "Python",
        f"This is Python {facts.python}; Maquette needs {facts.pythons}.",
        "Install it with another one: `make PYTHON=python3.12 run`.",
    )


def _core(facts: Installation) -> Sequence[Finding]:
    unmet = [problem("packages", _unmet(it), _CORE) for it in facts.core if not it.met]
    return unmet or [ok("packages", f"All {len(facts.core)} packages are there, in versions that Maquette asks for.")]


def _engine(facts: Installation) -> Sequence[Finding]:
    if not facts.has_engine:
        return [ok("engine extra", "It is not installed; only variants of the diffusers backend need it.")]
    unmet = [problem("engine extra", _unmet(it), ENGINE_REMEDY) for it in facts.engine if not it.met]
    pair = _pair(facts)
    return [*unmet, pair] if pair else unmet or [ok("engine extra", f"All {len(facts.engine)} packages are there.")]


def _pair(facts: Installation) -> Finding | None:
    """Torch and torchvision come in pairs; a wrong pair fails when it is imported, with a message about operators."""
    torch = next((it.installed for it in facts.engine if it.requirement.name == "torch"), None)
    wants = facts.torchvision_wants
    if torch is None or wants is None or wants.specifier.contains(torch, prereleases=True):
        return None
    return problem("torch", f"torchvision was built for torch {wants.specifier}; {torch} is installed.", ENGINE_REMEDY)


def _unmet(needed: Needed) -> str:
    requirement = f"{needed.requirement.name} {needed.requirement.specifier}".strip()
    there = f"{needed.installed} is installed" if needed.installed else "it is not installed"
    return f"Maquette needs {requirement}; {there}."
