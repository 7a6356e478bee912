"""From an answer to the wire: OpenAI's body, our trace, and the headers that say what it cost."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass

from cascade.jobs import Attempt, Picture
from gateway.flow import Answer
from gateway.http import links, schemas
from gateway.http.formats import deliver
from gateway.http.schemas import Format, GenerationIn
from gateway.rooms import Rooms
from gateway.timings import Timings

_QUALITY_OF_ROUTE = {"preview": "low", "auto": "medium", "final": "high"}
_PIXELS_PER_TOKEN = 256


@dataclass(frozen=True, slots=True)
class Presenter:
    """Renders answers whose links start with `base_url`."""

    rooms: Rooms
    base_url: str

    async def body(self, wire: GenerationIn, answer: Answer) -> schemas.ImagesOut:
        """The response body; pictures are inlined unless links were asked for."""
        job = answer.job
        accepted = [picture.accepted for picture in job.pictures if picture.accepted is not None]
        data = await asyncio.gather(*(self._datum(wire, attempt) for attempt in accepted))
        return schemas.ImagesOut(
            created=job.created_ms // 1000,
            data=list(data),
            output_format=wire.delivery,
            quality=_QUALITY_OF_ROUTE[wire.route],  # type: ignore[arg-type]
            size=f"{job.request.width}x{job.request.height}",
            usage=_usage(job.request.prompt, len(accepted) * job.request.pixels),
            maquette=schemas.TraceOut(
                id=job.id,
                model=job.plan.model,
                route=[stage.variant for stage in job.plan.stages],
                gpu_ms=schemas.GpuMsOut(
                    quoted=job.quoted_gpu_ms, held=answer.held_gpu_ms, charged=answer.charged_gpu_ms
                ),
                pictures=[self._picture(picture) for picture in job.pictures],
            ),
        )

    async def _datum(self, wire: GenerationIn, attempt: Attempt) -> schemas.DatumOut:
        if wire.response_format == "url":
            return schemas.DatumOut(url=self._link(attempt, wire.delivery))
        png = await self.rooms.artifacts.get(attempt.artifact)
        compression = 100 if wire.output_compression is None else wire.output_compression
        content = await asyncio.to_thread(deliver, png, wire.delivery, compression)
        return schemas.DatumOut(b64_json=base64.b64encode(content).decode())

    def _picture(self, picture: Picture) -> schemas.PictureOut:
        return schemas.PictureOut(
            index=picture.index,
            seed=picture.seed,
            status=picture.status,
            attempts=[self._attempt(attempt) for attempt in picture.attempts],
            error=picture.failure.message if picture.failure else None,
        )

    def _attempt(self, attempt: Attempt) -> schemas.AttemptOut:
        return schemas.AttemptOut(
            variant=attempt.variant,
            steps=attempt.steps,
            score=None if attempt.score is None else round(attempt.score.value, 4),
            threshold=None if attempt.threshold is None else round(attempt.threshold, 4),
            verdict=attempt.verdict.value,
            gpu_ms=attempt.gpu_ms,
            cached=attempt.cached,
            url=self._link(attempt, "png"),
        )

    def _link(self, attempt: Attempt, picture_format: Format) -> str:
        expires = self.rooms.clock.now_ms() // 1000 + self.rooms.limits.link_seconds
        return self.base_url + links.sign(self.rooms.secret, attempt.artifact, picture_format, expires)


def headers(answer: Answer, timings: Timings, *, cached_use: bool) -> dict[str, str]:
    """What the answer cost and where it came from."""
    job = answer.job
    return {
        "Server-Timing": timings.header(),
        "Cache-Status": _cache_status(answer, cached_use=cached_use),
        "Cache-Control": "no-store",
        "X-Maquette-Job": job.id,
        "X-Maquette-Gpu-Ms-Quoted": str(job.quoted_gpu_ms),
        "X-Maquette-Gpu-Ms-Held": str(answer.held_gpu_ms),
        "X-Maquette-Gpu-Ms-Charged": str(answer.charged_gpu_ms),
        "X-Maquette-Route": ",".join(p.accepted.variant for p in job.pictures if p.accepted),
    }


def _cache_status(answer: Answer, *, cached_use: bool) -> str:
    """RFC 9211: a hit when nothing ran for this request."""
    attempts = [attempt for picture in answer.job.pictures for attempt in picture.attempts]
    if attempts and all(attempt.cached for attempt in attempts):
        return "maquette; hit"
    return "maquette; fwd=miss" if cached_use else "maquette; fwd=bypass"


def _usage(prompt: str, pixels: int) -> schemas.UsageOut:
    words, tokens = len(prompt.split()), pixels // _PIXELS_PER_TOKEN
    return schemas.UsageOut(
        input_tokens=words,
        output_tokens=tokens,
        total_tokens=words + tokens,
        input_tokens_details=schemas.UsageDetailsOut(text_tokens=words, image_tokens=0),
        output_tokens_details=schemas.UsageDetailsOut(text_tokens=0, image_tokens=tokens),
    )
