"""Operations: every path of the API once, with the types of its request and answer; from them come the routes, the
labels of the metrics and openapi.json."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from elmo.serve.encodings import media_types
from elmo.serve.routes import embeddings, page, similarity, status, substitutes, token_embeddings

_COMPUTED = (429, 503)


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    answer: Callable[[Request], Awaitable[Response]]
    summary: str
    gives: type[msgspec.Struct] | None
    """The answer's JSON; None: text."""
    reads: type[msgspec.Struct] | None = None
    """The body of the request."""
    media_types: tuple[str, ...] = (media_types.JSON,)
    """What it can answer with."""
    refusals: tuple[int, ...] = ()
    """Statuses besides those that every operation has, and those of every body."""

    @property
    def route(self) -> Route:
        """For Starlette."""
        return Route(self.path, self.answer, methods=[self.method])


OPERATIONS = (
    Operation(
        "POST",
        "/v1/embeddings",
        embeddings.answer,
        "A vector for each text, in the shape of OpenAI's API",
        embeddings.Embeddings,
        embeddings.EmbeddingsRequest,
        media_types.VECTORS,
        (406, *_COMPUTED),
    ),
    Operation(
        "POST",
        "/v1/token_embeddings",
        token_embeddings.answer,
        "For each text its tokens, where they stand in it, and their vectors in every layer",
        token_embeddings.TokenEmbeddings,
        token_embeddings.TokenEmbeddingsRequest,
        media_types.VECTORS,
        (406, *_COMPUTED),
    ),
    Operation(
        "POST",
        "/v1/similarity",
        similarity.answer,
        "The cosine of every token of one text with every token of another",
        similarity.Similarity,
        similarity.SimilarityRequest,
        refusals=_COMPUTED,
    ),
    Operation(
        "POST",
        "/v1/substitutes",
        substitutes.answer,
        "Which words each direction of the model would put in one place of a sentence",
        substitutes.Substitutes,
        substitutes.SubstitutesRequest,
        refusals=_COMPUTED,
    ),
    Operation("GET", "/v1/models", status.models, "The models of this server", status.Models),
    Operation("GET", "/v1/models/{name}", status.model, "One of the models", status.Model, refusals=(404,)),
    Operation("GET", "/info", status.info, "What runs here: version, limits, models", status.Info),
    Operation("GET", "/health", status.health, "Whether the process lives; needs no key", status.Status),
    Operation(
        "GET",
        "/ready",
        status.ready,
        "Whether the models are warm and the server is not stopping; needs no key",
        status.Status,
        refusals=(503,),
    ),
    Operation("GET", "/metrics", status.metrics, "Counts and times, as Prometheus reads them", None),
    Operation("GET", "/docs", page.answer, "This page, for people; also at /", None, media_types=("text/html",)),
)
