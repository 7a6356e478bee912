"""`/`: a small page that draws and shows what the cascade did. Everything it loads comes from here."""

from __future__ import annotations

from pathlib import Path

from litestar import Response, get
from litestar.static_files import create_static_files_router

_FOLDER = Path(__file__).parent.parent / "page"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

static_files = create_static_files_router("/static", directories=[_FOLDER / "static"], include_in_schema=False)


@get("/", include_in_schema=False, media_type="text/html")
async def page() -> Response[str]:
    """The page."""
    return Response((_FOLDER / "index.html").read_text(), headers=_HEADERS, media_type="text/html")
