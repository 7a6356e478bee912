"""Whether the models draw and judge: one small picture from each, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.catalogue_file import CatalogueError, load_configured
from gateway.local.doctor.apart import faults_apart
from gateway.local.doctor.findings import Finding, ok, problem
from gateway.settings import Settings

DRAWING_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """What came of a variant's picture.

    Attributes:
        variant: its name.
        tried: whether it was drawn at all.
        fault: why that failed; "" when it did not.
    """

    variant: str
    tried: bool
    fault: str = ""


def look_at_drawing(settings: Settings) -> Sequence[Drawing]:
    """Draw one step with each ONNX variant, and judge it. A diffusers variant, which may fill a GPU, is left alone."""
    try:
        catalogue = load_configured(settings)
    except CatalogueError:
        return []
    pools = {pool.variant: pool.name for pool in catalogue.pools.values()}
    drawn = {name: pool for name, pool in pools.items() if catalogue.variants[name].backend == "onnx"}
    faults = faults_apart(
        "gateway.local.doctor.try_drawing", [str(settings.catalogue)], list(drawn.values()), DRAWING_SECONDS
    )
    return [Drawing(name, name in drawn, faults[drawn[name]] if name in drawn else "") for name in pools]


def judge_drawing(drawings: Sequence[Drawing]) -> Sequence[Finding]:
    """A finding for each variant."""
    return [_finding(drawing) for drawing in drawings]


def _finding(drawing: Drawing) -> Finding:
    name = drawing.variant
    if drawing.fault:
        return problem("drawing", f"{name} does not draw. {drawing.fault}", "Mend that; until then its workers fail.")
    if not drawing.tried:
        return ok("drawing", f"{name} was not loaded, for its size; `maquette config check --load` does that.")
    return ok("drawing", f"{name} draws, and what judges it answers.")
