"""Signed links to pictures: an opaque id, an expiry and an HMAC over both. Pure."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlencode

from cascade.jobs import ArtifactId
from gateway.failures import LinkError


def sign(secret: bytes, artifact_id: ArtifactId, picture_format: str, expires: int) -> str:
    """The path and query of a link that is valid until `expires`, in Unix seconds."""
    signature = _signature(secret, artifact_id, picture_format, expires)
    query = urlencode({"format": picture_format, "expires": expires, "signature": signature})
    return f"/v1/images/{artifact_id}/content?{query}"


def verify(
    secret: bytes, artifact_id: ArtifactId, picture_format: str, expires: int, signature: str, *, now: float
) -> None:
    """Check a link's parts at Unix second `now`.

    Raises:
        LinkError: it was tampered with or has expired. Which of the two is not said.
    """
    right = _signature(secret, artifact_id, picture_format, expires)
    if not hmac.compare_digest(right.encode(), signature.encode()) or now >= expires:
        raise LinkError


def _signature(secret: bytes, artifact_id: ArtifactId, picture_format: str, expires: int) -> str:
    message = f"link\n{artifact_id}\n{picture_format}\n{expires}"
    return hmac.new(secret, message.encode(), hashlib.sha256).hexdigest()
