"""From a pool to a loaded engine. Only worker processes import this: it names the model stack."""

from __future__ import annotations

from backends.diffusers_flux import DiffusersFlux
from backends.onnx_flux import OnnxFlux
from cascade.catalogue import Catalogue, Pool, Variant
from cascade.plans import DiscriminatorName
from cascade.ports import Backend
from discriminators.clip_head import ClipHead
from gateway.worker import Engine


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
    return Engine(
        pool=pool,
        backend=_backend(catalogue.variants[pool.variant], pool),
        discriminators={name: _discriminator(catalogue, name, pool) for name in judges},
    )


def _backend(variant: Variant, pool: Pool) -> Backend:
    if variant.backend == "diffusers":
        return DiffusersFlux(variant.folder, pool.threads, pool.device)
    return OnnxFlux(variant.folder, pool.threads)


def _discriminator(catalogue: Catalogue, name: DiscriminatorName, pool: Pool) -> ClipHead:
    entry = catalogue.discriminators[name]
    return ClipHead(entry.clip, entry.head, pool.threads)
