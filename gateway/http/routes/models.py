"""`GET /v1/models`: what can be asked for."""

from __future__ import annotations

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath
from pydantic import BaseModel

from cascade.catalogue import Catalogue, Model
from cascade.routing import model_named
from gateway.http.auth import authenticate
from gateway.http.errors import HttpRequest
from gateway.rooms import Rooms


class RungOut(BaseModel):
    """One rung of a route."""

    variant: str
    steps: int
    threshold: float | None
    license: str


class ModelDetailsOut(BaseModel):
    """What is ours about a model."""

    description: str
    routes: dict[str, list[RungOut]]
    native_size: str
    size_rule: str
    vocabulary: list[str]


class ModelOut(BaseModel):
    """OpenAI's model object; `maquette` is ours."""

    id: str
    object: str = "model"
    created: int = 0
    owned_by: str = "maquette"
    maquette: ModelDetailsOut


class ModelsOut(BaseModel):
    """OpenAI's list."""

    object: str = "list"
    data: list[ModelOut]


@get("/v1/models", summary="Models")
async def list_models(request: HttpRequest, rooms: NamedDependency[Rooms]) -> ModelsOut:
    """Every model."""
    await authenticate(rooms, request.headers.get("authorization"))
    return ModelsOut(data=[_model(rooms.catalogue, model) for model in rooms.catalogue.models.values()])


@get("/v1/models/{model_id:str}", summary="One model")
async def get_model(request: HttpRequest, model_id: FromPath[str], rooms: NamedDependency[Rooms]) -> ModelOut:
    """One model, with its routes, sizes and vocabulary."""
    await authenticate(rooms, request.headers.get("authorization"))
    return _model(rooms.catalogue, model_named(rooms.catalogue, model_id))


def _model(catalogue: Catalogue, model: Model) -> ModelOut:
    routes = {
        quality: [
            RungOut(
                variant=step.variant,
                steps=catalogue.variants[step.variant].steps,
                threshold=None if step.discriminator is None else round(step.threshold, 4),
                license=catalogue.variants[step.variant].license,
            )
            for step in steps
        ]
        for quality, steps in model.routes.items()
    }
    heaviest = catalogue.variants[model.heaviest]
    details = ModelDetailsOut(
        description=model.description,
        routes=routes,
        native_size="{}x{}".format(*heaviest.sizes.native),
        size_rule=heaviest.sizes.describe(),
        vocabulary=sorted(word for word in heaviest.vocabulary if word.isalpha()),
    )
    return ModelOut(id=model.name, maquette=details)
