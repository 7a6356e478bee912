"""Which weights, and which machine: what figures must be told with."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import Any

from bench.cascade.instruments import JUDGE, REAL_FAKE, ROUTER
from bench.cascade.studio import Studio
from cascade.model_folder import ModelFolder
from cascade.plans import CascadePlan

_CPUINFO = Path("/proc/cpuinfo")


def versions(studio: Studio, plan: CascadePlan, weights: Path) -> dict[str, str]:
    """Digests by what they are of.

    Raises:
        ModelFilesError: a file is missing.
    """
    clip, head = studio.entry.folders["clip"], studio.entry.folders["head"]
    return {
        "light": plan.stages[0].weights,
        "heavy": plan.stages[1].weights,
        "clip": clip_digest(clip),
        "head": head_digest(head),
        "real_fake": head_digest(weights / REAL_FAKE),
        "router": head_digest(weights / ROUTER),
        "judge": clip_digest(weights / JUDGE),
    }


def clip_digest(folder: Path) -> str:
    """What a CLIP's manifest says.

    Raises:
        ModelFilesError: it says nothing.
    """
    return ModelFolder(folder).settings("maquette.json").text("digest")


def head_digest(folder: Path) -> str:
    """SHA-256 of a head's graph and its calibration.

    Raises:
        ModelFilesError: one is missing.
    """
    files = ModelFolder(folder)
    return hashlib.sha256(files.read("head.onnx") + files.read("calibration.json")).hexdigest()


def machine(studio: Studio) -> dict[str, Any]:
    """The CPU's name, and the threads that each tier and the discriminator may use."""
    return {
        "cpu": cpu_name(),
        "threads": {"light": studio.light.pool.threads, "heavy": studio.heavy.pool.threads},
        "runtimes": {
            "light": studio.catalogue.variants[studio.light.pool.variant].backend,
            "heavy": studio.catalogue.variants[studio.heavy.pool.variant].backend,
        },
    }


def cpu_name() -> str:
    """As Linux has it, else as Python does."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
