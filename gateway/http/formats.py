"""Pictures as they are delivered. They are kept as PNG; anything else is made from that, deterministically."""

from __future__ import annotations

import io

from PIL import Image

MEDIA_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}


def deliver(png: bytes, picture_format: str, compression: int = 100) -> bytes:
    """`png` re-encoded as `picture_format`.

    Args:
        compression: OpenAI's `output_compression`: the quality, 0 … 100, of JPEG and WebP. PNG ignores it.
    """
    if picture_format == "png":
        return png
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        if picture_format == "jpeg":
            picture.convert("RGB").save(out, "JPEG", quality=max(1, compression), subsampling=0)
        else:
            picture.save(out, "WEBP", quality=compression, lossless=compression == 100, method=4)  # noqa: PLR2004
    return out.getvalue()
