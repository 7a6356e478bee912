"""Why the benchmark cannot run, drawn as a tree.

BenchError
├── MissingPackageError    a package of the `bench` extra is not installed
├── MissingWeightsError    the weights lack something that is compared or measured with
├── NotACascadeError       the catalogue's default model does not lead from a light to a heavy variant
├── OtherJudgeError        its discriminator is no head on a CLIP
└── FewPromptsError        the world has not so many different prompts
"""

from __future__ import annotations


class BenchError(RuntimeError):
    """The benchmark cannot run as asked."""


class MissingPackageError(BenchError):
    """A package of the `bench` extra is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"This benchmark needs {name}: install the `bench` extra, `uv sync --extra bench`.")


class MissingWeightsError(BenchError):
    """The weights lack something that is compared or measured with."""

    def __init__(self, folder: str, role: str) -> None:
        super().__init__(
            f"The weights have no {folder}, {role}. Train it with `python -m shapes.train all`, "
            "or point MAQUETTE_WEIGHTS at weights that have it."
        )


class NotACascadeError(BenchError):
    """The default model has no route of two variants."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The route `auto` of {model} does not lead from one variant to another. "
            "Name a catalogue whose default model is a cascade of two in MAQUETTE_CATALOGUE."
        )


class OtherJudgeError(BenchError):
    """The cascade is judged by something else than a head on a CLIP."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(
            f"Discriminator {name} is of kind {kind}, and this benchmark compares heads on one CLIP. "
            "Name a catalogue whose cascade is judged by a clip_head in MAQUETTE_CATALOGUE."
        )


class FewPromptsError(BenchError):
    """The world has not so many different prompts."""

    def __init__(self, found: int) -> None:
        super().__init__(f"Only {found} different prompts were found. Ask for fewer with --prompts.")
