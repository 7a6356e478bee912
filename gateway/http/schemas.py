"""The wire: OpenAI's image request with our extensions, checked strictly, and its way into the domain."""

from __future__ import annotations

import re
import secrets
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from cascade.catalogue import Catalogue
from cascade.fingerprint import derived_seed
from cascade.requests import SEEDS, GenerationRequest
from cascade.routing import model_named
from tenants.types import Tenant

MOST_PROMPT = 32_000
"""Characters, as OpenAI has it."""

_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
_ROUTES = {
    "preview": "preview", "low": "preview",
    "auto": "auto", "medium": "auto", "standard": "auto",
    "final": "final", "high": "final", "hd": "final", "xhigh": "final", "max": "final",
}  # fmt: skip


def _whole(value: object) -> object:
    """Refuse what only converts to an integer: Litestar validates leniently, whatever the field says."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("Input should be a valid integer")


Whole = Annotated[int, BeforeValidator(_whole)]
Quality = Literal["preview", "auto", "final", "low", "medium", "high", "xhigh", "max", "standard", "hd"]
Format = Literal["png", "jpeg", "webp"]


class GenerationIn(BaseModel):
    """Body of `POST /v1/images/generations`. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = Field(min_length=1, max_length=MOST_PROMPT, description="What to draw.")
    model: str | None = Field(
        default=None, max_length=128, description="A name from /v1/models; the default model if absent."
    )
    n: Annotated[Whole, Field(ge=1, le=10)] | None = Field(default=None, description="How many pictures.")
    size: str | None = Field(default=None, description="WIDTHxHEIGHT in pixels, or auto.")
    quality: Quality | None = Field(
        default=None, description="preview: light model only; auto: the cascade; final: heavy model only."
    )
    response_format: Literal["b64_json", "url"] | None = None
    output_format: Format | None = None
    output_compression: Annotated[Whole, Field(ge=0, le=100)] | None = None
    background: Literal["auto", "opaque"] | None = None
    moderation: Literal["auto", "low"] | None = Field(default=None, description="Accepted, no effect.")
    style: Literal["vivid", "natural"] | None = Field(default=None, description="Accepted, no effect.")
    user: str | None = Field(default=None, max_length=256, description="Accepted, no effect yet.")
    safety_identifier: str | None = Field(default=None, max_length=256, description="Accepted, no effect yet.")
    stream: Literal[False] | None = Field(default=None, description="Streaming is not offered yet.")
    partial_images: Literal[0] | None = Field(default=None, description="Partial images are not offered yet.")

    seed: Annotated[Whole, Field(ge=0, lt=SEEDS)] | None = Field(default=None, description="Of the first picture.")
    num_inference_steps: Annotated[Whole, Field(ge=1, le=1000)] | None = None
    guidance_scale: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    negative_prompt: str | None = Field(default=None, max_length=MOST_PROMPT)
    cache: Literal["auto", "always", "never"] | None = Field(
        default=None,
        description="auto: seeded requests are served from the tenant's cache; always: unseeded ones too, with a seed "
        "made of the prompt; never: neither read nor kept.",
    )

    @field_validator("prompt")
    @classmethod
    def _says_something(cls, prompt: str) -> str:
        if not prompt.strip():
            raise ValueError("prompt is empty")
        return prompt

    @field_validator("size")
    @classmethod
    def _is_a_size(cls, size: str | None) -> str | None:
        if size is not None and size != "auto" and not _SIZE.fullmatch(size):
            raise ValueError("size is WIDTHxHEIGHT, like 64x64, or auto")
        return size

    @property
    def route(self) -> str:
        """`preview`, `auto` or `final`."""
        return _ROUTES[self.quality or "auto"]

    @property
    def delivery(self) -> Format:
        """The picture format that was asked for."""
        return self.output_format or "png"


class DatumOut(BaseModel):
    """One picture."""

    b64_json: str | None = None
    url: str | None = None


class UsageDetailsOut(BaseModel):
    """OpenAI's split of tokens."""

    text_tokens: int
    image_tokens: int


class UsageOut(BaseModel):
    """Our accounting in OpenAI's shape: a word is a text token, 16×16 pixels are an image token."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: UsageDetailsOut
    output_tokens_details: UsageDetailsOut


class AttemptOut(BaseModel):
    """One stage that ran, or was remembered, for a picture."""

    variant: str
    steps: int
    score: float | None
    threshold: float | None
    verdict: Literal["accept", "escalate"]
    gpu_ms: int
    cached: bool
    url: str


class PictureOut(BaseModel):
    """How one picture came to be. `error` says why a stage failed; a lighter picture may still have been delivered."""

    index: int
    seed: int
    status: str
    attempts: list[AttemptOut]
    error: str | None


class GpuMsOut(BaseModel):
    """Milliseconds of the reference GPU."""

    quoted: int
    held: int
    charged: int


class TraceOut(BaseModel):
    """What happened, for those who want to know."""

    id: str
    model: str
    route: list[str]
    gpu_ms: GpuMsOut
    pictures: list[PictureOut]


class ImagesOut(BaseModel):
    """OpenAI's images response; `maquette` is ours."""

    created: int
    data: list[DatumOut]
    background: Literal["opaque"] = "opaque"
    output_format: Format
    quality: Literal["low", "medium", "high"]
    size: str
    usage: UsageOut
    maquette: TraceOut


def to_request(wire: GenerationIn, catalogue: Catalogue, secret: bytes, tenant: Tenant) -> GenerationRequest:
    """The domain's request: size and seed made explicit.

    Raises:
        UnknownModelError: no model of that name, so no native size either.
    """
    width, height = _size(wire, catalogue)
    seed = wire.seed
    if seed is None:
        seed = derived_seed(secret, tenant.id, wire.prompt) if wire.cache == "always" else secrets.randbelow(SEEDS)
    return GenerationRequest(
        prompt=wire.prompt,
        width=width,
        height=height,
        seed=seed,
        n=wire.n or 1,
        steps=wire.num_inference_steps,
        guidance=wire.guidance_scale,
        negative_prompt=wire.negative_prompt or "",
    )


def _size(wire: GenerationIn, catalogue: Catalogue) -> tuple[int, int]:
    match = _SIZE.fullmatch(wire.size or "auto")
    if match:
        return int(match[1]), int(match[2])
    model = model_named(catalogue, wire.model or catalogue.default_model)
    return catalogue.variants[model.heaviest].sizes.native
