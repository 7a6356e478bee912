"""`/`: a small page that draws and shows what the cascade did. Everything it loads comes from here."""

from __future__ import annotations

from pathlib import Path

from litestar import Response, get
from litestar.params import FromPath

from gateway.failures import NotFoundError

_FOLDER = Path(__file__).parent.parent / "page"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_STATIC = {path.name: (path.read_bytes(), _MEDIA_TYPES[path.suffix]) for path in (_FOLDER / "static").iterdir()}


@get("/static/{name:str}", include_in_schema=False, media_type="text/plain")
async def static_file(name: FromPath[str]) -> Response[bytes]:
    """One of the page's files. A look-up by name: no path of a caller's reaches the disk."""
    if name not in _STATIC:
        raise NotFoundError("file")
    content, media_type = _STATIC[name]
    return Response(content, media_type=media_type, headers=_HEADERS)


@get("/", include_in_schema=False, media_type="text/html")
async def page() -> Response[str]:
    """The page."""
    return Response((_FOLDER / "index.html").read_text(), headers=_HEADERS, media_type="text/html")
