"""From stored bytes to a picture that a preprocessor takes."""

from __future__ import annotations

import io

from PIL import Image

from cascade.errors import DiscriminatorError


def decode(content: bytes) -> Image.Image:
    """The picture in RGB.

    Raises:
        DiscriminatorError: it is not one, or it is too large to be an honest one.
    """
    try:
        return Image.open(io.BytesIO(content)).convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DiscriminatorError("The artifact is not a picture that can be decoded.") from error
