"""What heads and scorers need of a CLIP, whichever library runs it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embeddings(Protocol):
    """Both towers of one CLIP. Any number of threads may use them at once."""

    digest: str
    """Of the weights: a head fits only the CLIP that it was trained on."""
    width: int
    """D: entries of an embedding."""
    feature_width: int
    """F: entries of a picture's features, D or more."""

    def image(self, content: bytes) -> NDArray[np.float32]:
        """The features of an encoded picture of any size.

        Returns:
            [1, F] float32: the embedding, D entries of length 1; then, of a CLIP that shows its patches, their mean and
            their maximum. Patches are the last layer's, after its normalisation: open_clip's `output_tokens`.

        Raises:
            DiscriminatorError: it is not a picture, or the network failed.
        """
        ...

    def text(self, prompt: str) -> NDArray[np.float32]:
        """The embedding of a prompt, cut to the context length.

        Returns:
            [1, D] float32 of length 1.

        Raises:
            DiscriminatorError: it is not Unicode text, or the network failed.
        """
        ...
