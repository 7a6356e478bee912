"""From a pool to a loaded engine. Only worker processes import this: it names the model stack."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from backends.diffusers_flux import DiffusersFlux
from backends.onnx_flux import OnnxFlux
from cascade.catalogue import Catalogue, DiscriminatorEntry, Pool, Variant
from cascade.plans import DiscriminatorName
from cascade.ports import Backend, Discriminator
from discriminators.aesthetic import Aesthetic
from discriminators.clip_head import ClipHead
from discriminators.clip_score import ClipScore
from discriminators.open_clip_score import OpenClipScore
from discriminators.pickscore import PickScore
from gateway.worker import Engine

logger = logging.getLogger(__name__)


def open_engine(catalogue: Catalogue, pool: Pool) -> Engine:
    """Load the pool's variant and every discriminator that judges it.

    Raises:
        ModelFilesError: a model folder is missing, incomplete or corrupt.
    """
    judges = {
        step.discriminator
        for model in catalogue.models.values()
        for steps in model.routes.values()
        for step in steps
        if step.variant == pool.variant and step.discriminator is not None
    }
    _log_overrides(catalogue.variants[pool.variant], *(catalogue.discriminators[name] for name in judges))
    return Engine(
        pool=pool,
        backend=_backend(catalogue.variants[pool.variant], pool),
        discriminators={name: _discriminator(catalogue, name, pool) for name in judges},
    )


def _log_overrides(*loaded: Variant | DiscriminatorEntry) -> None:
    for each in loaded:
        if each.license_override:
            logger.warning("%s (%s) is loaded under an override: %s", each.name, each.license, each.license_override)


def _backend(variant: Variant, pool: Pool) -> Backend:
    if variant.backend == "diffusers":
        return DiffusersFlux(variant.folder, pool.threads, pool.device)
    return OnnxFlux(variant.folder, pool.threads)


def _discriminator(catalogue: Catalogue, name: DiscriminatorName, pool: Pool) -> Discriminator:
    entry = catalogue.discriminators[name]
    return JUDGES[entry.kind](entry.folders, pool.threads, pool.device)


Open = Callable[[Mapping[str, Path], int, str], Discriminator]
"""(folders by part, CPU threads, torch device) to a loaded judge."""

JUDGES: Mapping[str, Open] = {
    "clip_head": lambda of, threads, device: ClipHead(of["clip"], of["head"], threads, device),
    "clip_score": lambda of, threads, device: ClipScore(of["clip"], of.get("calibration"), threads, device),
    "open_clip": lambda of, threads, device: OpenClipScore(of["clip"], of.get("calibration"), threads, device),
    "pickscore": lambda of, threads, device: PickScore(of["clip"], of.get("calibration"), threads, device),
    "aesthetic": lambda of, threads, device: Aesthetic(of["clip"], of["head"], of.get("calibration"), threads, device),
}
"""Which class judges for which `kind` of the catalogue."""
