"""Run in a process of its own: draw one step with the variant of each named pool, and have its judges score it."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path

from cascade.catalogue import Catalogue
from cascade.errors import CascadeError
from cascade.plans import PoolName, Stage
from cascade.requests import GenerationRequest
from gateway.catalogue_file import load_configured
from gateway.compose_engine import open_engine
from gateway.local.doctor.apart import tell_each, without_paths
from gateway.settings import Settings


def fault_of(catalogue: Catalogue, pool: str) -> str:
    """Draw for a pool. Returns why that does not work; "" when it does."""
    try:
        asyncio.run(_draw(catalogue, PoolName(pool)))
    except CascadeError as error:
        return str(error)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        return without_paths(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
    return ""


async def _draw(catalogue: Catalogue, name: PoolName) -> None:
    pool = catalogue.pools[name]
    variant = catalogue.variants[pool.variant]
    engine = open_engine(catalogue, pool)
    width, height = variant.sizes.native
    request = GenerationRequest(prompt="", width=width, height=height, seed=0)
    stage = Stage(
        variant=variant.name,
        pool=pool.name,
        steps=1,
        guidance=variant.guidance,
        weights=variant.weights,
        discriminator=None,
        threshold=0,
        predicted_gpu_ms=0,
        ceiling_gpu_ms=0,
    )
    picture = await engine.backend.generate(request, stage, request.seed, _unheard)
    for judge in engine.discriminators.values():
        await judge.score(request, picture)


def _unheard(done: int, total: int) -> None:
    """Nobody watches."""


if __name__ == "__main__":
    _, path, *pools = sys.argv
    tell_each(pools, partial(fault_of, load_configured(Settings(catalogue=Path(path)))))
