"""Operations: every path of the API once, with the types of its request and answer. The routes, the labels of the
metrics and openapi.json are made from them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from elmo.serve import encodings
from elmo.serve.answers import ErrorBody
from elmo.serve.routes import embeddings, status, substitutes
from elmo.version import __version__

_COMPONENT = "#/components/schemas/{name}"
# What every request can meet (400: the Host header; 401, 403: the gate), and what every body can.
_ALWAYS = (400, 401, 403)
_OF_BODIES = (404, 408, 413)
_COMPUTED = (429, 503)


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    path: str
    answer: Callable[[Request], Awaitable[Response]]
    summary: str
    gives: Any
    """The type of the answer's JSON; None: text."""
    reads: type[msgspec.Struct] | None = None
    """The body of the request."""
    media_types: tuple[str, ...] = (encodings.JSON,)
    """What it can answer with."""
    refusals: tuple[int, ...] = ()
    """Statuses besides _ALWAYS and _OF_BODIES."""

    @property
    def method(self) -> str:
        """Of HTTP."""
        return "GET" if self.reads is None else "POST"

    @property
    def route(self) -> Route:
        """For Starlette."""
        return Route(self.path, self.answer, methods=[self.method])


OPERATIONS = (
    *(
        Operation(
            path,
            embeddings.answer,
            "A vector for each text, in the shape of OpenAI's API",
            embeddings.Embeddings,
            embeddings.EmbeddingsRequest,
            encodings.VECTORS,
            _COMPUTED,
        )
        for path in ("/v1/embeddings", "/embeddings")
    ),
    Operation(
        "/v1/token_embeddings",
        embeddings.answer_tokens,
        "For each text its tokens, their positions in it, and their vectors in every layer",
        embeddings.TokenEmbeddings,
        embeddings.TokenEmbeddingsRequest,
        encodings.VECTORS,
        _COMPUTED,
    ),
    Operation(
        "/v1/substitutes",
        substitutes.answer,
        "The words that each direction of the model expects in one position of a sentence",
        substitutes.Substitutes,
        substitutes.SubstitutesRequest,
        refusals=_COMPUTED,
    ),
    Operation("/v1/models", status.models, "The models of this server", status.Models),
    Operation("/v1/models/{name}", status.model, "One of the models", status.Model, refusals=(404,)),
    Operation("/health", status.health, "Whether the process lives; needs no key", status.Status),
    Operation(
        "/ready",
        status.ready,
        "Whether the models are warm and the server is not stopping; needs no key",
        status.Status,
        refusals=(503,),
    ),
    Operation(
        "/metrics", status.metrics, "Counts and times, as Prometheus reads them", None, media_types=("text/plain",)
    ),
)


def openapi() -> dict[str, Any]:
    """The document, as plain values for JSON."""
    types = [*{kind: None for it in OPERATIONS for kind in (it.reads, it.gives) if kind is not None}, ErrorBody]
    found, components = msgspec.json.schema_components(types, ref_template=_COMPONENT)
    schemas = dict(zip(types, found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "elmo serve", "version": __version__, "description": "ELMo vectors over HTTP."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _operation(operation: Operation, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    statuses = (*_ALWAYS, *(_OF_BODIES if operation.reads else ()), *operation.refusals)
    refused = _json(schemas[ErrorBody])
    refusals = {str(status): {"description": HTTPStatus(status).phrase, **refused} for status in sorted(set(statuses))}
    found: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": re.sub(r"\W+", "_", operation.path.strip("/{}")),
        "responses": {"200": {"description": "The answer", "content": _content(operation, schemas)}} | refusals,
    }
    if names := re.findall(r"{(\w+)}", operation.path):
        found["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if operation.reads is not None:
        found["requestBody"] = {"required": True, **_json(schemas[operation.reads])}
    return found


def _content(operation: Operation, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    if operation.gives is None:
        return {operation.media_types[0]: {"schema": {"type": "string"}}}
    others = {media_type: {} for media_type in operation.media_types if media_type != encodings.JSON}
    return _json(schemas[operation.gives])["content"] | others


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {encodings.JSON: {"schema": schema}}}
