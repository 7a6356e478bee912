"""The loop every trainer shares: seeded steps, a schedule, checkpoints, and a progress bar.

A checkpoint holds every named part's `state_dict` and the next step; a run that was stopped goes on from the newest
checkpoint and, because data depend on (seed, step) only, sees what it would have seen.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from shapes.train import team

Figures = Mapping[str, float]


class Stateful(Protocol):
    """Anything with torch's state_dict pair: modules, optimisers, averages."""

    def state_dict(self) -> dict[str, Any]:
        """Return everything needed to go on later."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> Any:
        """Go on from what `state_dict` returned."""


@dataclass(frozen=True, slots=True)
class Course:
    """How long and where to train."""

    name: str
    steps: int
    folder: Path
    seed: int = 0
    save_every: int = 250
    report_every: int = 50
    resume: bool = True
    console: Console = field(default_factory=Console)

    @property
    def checkpoint(self) -> Path:
        """The file that holds the newest state."""
        return self.folder / f"{self.name}.checkpoint.pt"

    def schedule(self, step: int, *, warm_up: int = 100, floor: float = 0.02, decay: float = 1.0) -> float:
        """Return the learning rate at `step` as a share of its peak: linear warm-up, flat, then a half cosine.

        Args:
            step: 0 … `steps` - 1.
            warm_up: Steps until the peak.
            floor: The share reached at the end.
            decay: The last share of the course over which the rate falls, in 0..1.
        """
        start = self.steps * (1 - decay)
        progress = max(0.0, (step - start) / max(1.0, self.steps - start))
        return min(1.0, (step + 1) / warm_up) * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress)))


def follow(
    course: Course,
    parts: Mapping[str, Stateful],
    step: Callable[[int], Figures],
    watch: Callable[[int], None] | None = None,
) -> None:
    """Run `step` for every remaining step; call `watch` whenever a checkpoint has been written."""
    course.folder.mkdir(parents=True, exist_ok=True)
    first = _resume(course, parts)
    began = time.monotonic()
    with _bar(course) as bar:
        task = bar.add_task(course.name, total=course.steps, completed=first)
        for number in range(first, course.steps):
            figures = step(number)
            bar.advance(task)
            done = number + 1
            if team.rank() == 0 and (done % course.report_every == 0 or done == course.steps):
                _report(course, done, figures, (time.monotonic() - began) / (done - first))
            if done % course.save_every == 0 or done == course.steps:
                _save(course, parts, done)
                if watch is not None and team.rank() == 0:
                    watch(done)


def _bar(course: Course) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=course.console, disable=team.rank() > 0 or not course.console.is_terminal)


def _report(course: Course, done: int, figures: Figures, pace: float) -> None:
    values = "  ".join(f"{name} {value:.4f}" for name, value in figures.items())
    left = (course.steps - done) * pace / 60
    course.console.print(f"{course.name} {done}/{course.steps}  {values}  {pace:.3f} s/step  {left:.1f} min left")


def _save(course: Course, parts: Mapping[str, Stateful], done: int) -> None:
    if team.rank() > 0:
        return
    fresh = course.checkpoint.with_suffix(".new")
    torch.save({"step": done, **{name: part.state_dict() for name, part in parts.items()}}, fresh)
    fresh.replace(course.checkpoint)


def _resume(course: Course, parts: Mapping[str, Stateful]) -> int:
    if not (course.resume and course.checkpoint.exists()):
        return 0
    state = torch.load(course.checkpoint, map_location="cpu", weights_only=True)
    for name, part in parts.items():
        if name in state:  # a part that joins an old course starts fresh
            part.load_state_dict(state[name])
    return int(state["step"])


class Average:
    """An exponential moving average of a module's parameters, warmed up so that early steps do not linger."""

    def __init__(self, module: torch.nn.Module, decay: float = 0.999) -> None:
        self._module = module
        self._decay = decay
        self._updates = 0
        self._shadow = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}

    @torch.no_grad()
    def update(self) -> None:
        """Move the average towards the module's present parameters."""
        self._updates += 1
        share = 1 - min(self._decay, (1 + self._updates) / (10 + self._updates))
        live = [tensor.detach() for tensor in self._module.state_dict().values()]
        torch._foreach_lerp_(list(self._shadow.values()), live, share)  # torch's only fused lerp

    def state_dict(self) -> dict[str, Any]:
        """Return the averaged parameters and the update count."""
        return {"updates": self._updates, "shadow": self._shadow}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Go on from `state_dict`."""
        self._updates = int(state_dict["updates"])
        self._shadow = dict(state_dict["shadow"])

    @property
    def parameters(self) -> dict[str, torch.Tensor]:
        """The averaged parameters, ready for `Module.load_state_dict`."""
        return self._shadow
