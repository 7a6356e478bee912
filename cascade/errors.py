"""What can go wrong, drawn as a tree.

CascadeError
├── UnknownModelError          no model of that name in the catalogue
├── UnservedSizeError          no pool or variant draws that size
├── UnsupportedFieldError      the routed variant cannot honour a field
├── UnknownWordsError          the variant's vocabulary lacks words of the prompt
├── PromptTooLongError         the variant would cut the prompt off
├── BackendError               a stage could not be run
│   ├── ModelFilesError        the model folder is missing, incomplete or corrupt
│   └── GenerationError        the engine failed on this picture
├── DiscriminatorError         a picture could not be judged
├── StaleLeaseError            the lease was lost: whoever holds it now may write, we may not
├── ArtifactMissingError       no such artifact in the store
└── StoreUnavailableError      the queue, cache or artifact store does not answer
"""

from __future__ import annotations


class CascadeError(Exception):
    """Something the cascade knows by name."""


class UnknownModelError(CascadeError):
    """The catalogue has no model of that name."""

    def __init__(self, known: tuple[str, ...]) -> None:
        super().__init__(f"No such model. Known models: {', '.join(known)}.")


class UnservedSizeError(CascadeError):
    """No pool draws pictures of that size."""

    def __init__(self, width: int, height: int, advice: str) -> None:
        super().__init__(f"No model here draws {width}x{height}. {advice}")


class UnsupportedFieldError(CascadeError):
    """The routed variant cannot honour a field of the request."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        super().__init__(reason)


class UnknownWordsError(CascadeError):
    """The prompt has words that the variant was never taught. Positions, not words: a prompt is private."""

    def __init__(self, positions: tuple[int, ...], vocabulary: tuple[str, ...]) -> None:
        places = ", ".join(str(position) for position in positions[:20])
        super().__init__(f"This model does not know word {places} of the prompt. It knows: {' '.join(vocabulary)}.")


class PromptTooLongError(CascadeError):
    """The prompt has more words than the variant reads."""

    def __init__(self, words: int, most: int) -> None:
        super().__init__(f"This model reads {most} words and commas; the prompt has {words}.")


class BackendError(CascadeError):
    """A stage could not be run."""


class ModelFilesError(BackendError):
    """The model folder is missing, incomplete or corrupt."""


class GenerationError(BackendError):
    """The engine failed on this picture."""


class DiscriminatorError(CascadeError):
    """A picture could not be judged."""


class StaleLeaseError(CascadeError):
    """The lease was lost; nothing was written."""


class ArtifactMissingError(CascadeError):
    """The store has no such artifact."""


class StoreUnavailableError(CascadeError):
    """The queue, cache or artifact store does not answer."""
