"""GET /health, /ready, /v1/models and /metrics: what the server is and whether it can work."""

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from elmo.serve.answers import Refusal, json_answer
from elmo.serve.metrics import CONTENT_TYPE
from elmo.serve.models import ServedModel
from elmo.serve.service import Service, service_of


class Status(msgspec.Struct):
    """That the server lives, or is ready."""

    status: Literal["ok", "ready"]


class Model(msgspec.Struct):
    """A model of this server."""

    id: str
    """What requests call it by."""
    created: int
    """When this server began to serve it, in seconds since 1970."""
    layers: int
    """The token layer included."""
    dimensions: int
    """Of a vector of one layer."""
    model_hash: str
    """SHA-256 over the weights."""
    substitutes: bool
    """Whether /v1/substitutes knows it."""
    object: Literal["model"] = "model"
    owned_by: str = "elmo"


class Models(msgspec.Struct):
    """All models of this server."""

    data: list[Model]
    object: Literal["list"] = "list"


async def health(request: Request) -> Response:
    return json_answer(Status("ok"))


async def ready(request: Request) -> Response:
    service = service_of(request)
    if service.is_stopping:
        raise Refusal(503, "the server is stopping. Send requests to another one.", "stopping")
    if service.failure is not None:
        message = f"a model could not compute its first vectors ({service.failure}). Check it with 'elmo inspect'."
        raise Refusal(503, message, "failed")
    if not service.is_warm:
        raise Refusal(503, "the models are being warmed up. Ask again in a second.", "warming_up")
    return json_answer(Status("ready"))


async def models(request: Request) -> Response:
    service = service_of(request)
    return json_answer(Models([_model(model, service) for model in service.models.values()]))


async def model(request: Request) -> Response:
    service = service_of(request)
    return json_answer(_model(service.model(request.path_params["name"]), service))


async def metrics(request: Request) -> Response:
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE)


def _model(model: ServedModel, service: Service) -> Model:
    facts = model.description
    can_substitute = model.substitutes is not None
    return Model(
        model.name, int(service.started), facts["num_layers"], facts["layer_dim"], facts["model_hash"], can_substitute
    )
