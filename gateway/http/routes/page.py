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

_STATIC = {"page.js": "text/javascript", "page.css": "text/css", "mark.svg": "image/svg+xml"}


@get("/static/{name:str}", include_in_schema=False, media_type="text/plain")
async def static_file(name: FromPath[str]) -> Response[bytes]:
    """One of the page's files. A look-up by name: no path of a caller's reaches the disk.

    Raises:
        NotFoundError: the page has no such file.
    """
    if name not in _STATIC:
        raise NotFoundError("file")
    return Response((_FOLDER / "static" / name).read_bytes(), media_type=_STATIC[name], headers=_HEADERS)


@get("/", include_in_schema=False, media_type="text/html")
async def page() -> Response[str]:
    """The page."""
    return Response((_FOLDER / "index.html").read_text(), headers=_HEADERS, media_type="text/html")
