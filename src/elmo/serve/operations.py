"""Operations: every path of the API once, with the types of its request and answer. The routes, the labels of the
metrics, openapi.json (for programs) and the page at / (for people) are made from them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from elmo.serve import encodings
from elmo.serve.answers import ErrorBody
from elmo.serve.routes import embeddings, inference, rerank, similarity, status, substitutes
from elmo.serve.service import service_of
from elmo.version import __version__

_COMPONENT = "#/components/schemas/{name}"
# What every request can meet (400: the Host header; 401, 403: the gate), and what every body can.
_ALWAYS = (400, 401, 403)
_OF_BODIES = (404, 408, 413, 415)
_REASONS = {
    400: "The request makes no sense, or is addressed to another host",
    401: "The server needs an API key",
    403: "Another web site's page sent the request",
    404: "There is no such model",
    406: "None of the accepted media types can be had",
    408: "The body did not arrive in time",
    413: "The body is too large",
    415: "The body is not plain JSON",
    429: "Too many tokens wait already",
    503: "Too late, or the server is starting or stopping",
}
_COMPUTED = (429, 503)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>elmo serve</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
code, pre {{ font-family: ui-monospace, monospace; font-size: .9em }}
pre {{ overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: 6px }}
td, th {{ text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0 }}
table {{ display: block; overflow-x: auto }}
</style>
<h1>elmo serve</h1>
<p>ELMo's vectors over HTTP, with the interface of OpenAI's embeddings API. Version {version}.</p>
<h2>Models</h2>
<table>
<tr><th>name<th>layers<th>dimensions
{models}
</table>
<h2>A first request</h2>
<pre>curl http://ADDRESS/v1/embeddings \\
  -H 'Content-Type: application/json' \\
  -d '{{"input": ["The river bank was steep."], "model": "{first}"}}'</pre>
<p>ADDRESS is the address in your browser's address bar. A client of OpenAI's API needs the base URL
<code>http://ADDRESS/v1</code>. A text is split into tokens by the rule <code>{tokenizer}</code>; one request
holds up to {max_inputs:,} texts.</p>
<h2>Paths</h2>
<table>
{paths}
</table>
<p><a href="/openapi.json">/openapi.json</a> has every field and type.</p>
</html>
"""


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


async def page(request: Request) -> Response:
    service = service_of(request)
    described = [(model.name, model.embedder) for model in service.models.values()]
    models = (f"<tr><td><code>{escape(name)}</code><td>{it.num_layers}<td>{it.layer_dim}" for name, it in described)
    paths = (f"<tr><td><code>{it.method}&nbsp;{escape(it.path)}</code><td>{escape(it.summary)}" for it in OPERATIONS)
    text = _PAGE.format(
        version=__version__,
        models="\n".join(models),
        first=escape(described[0][0]),
        tokenizer=escape(service.settings.tokenizer),
        max_inputs=service.settings.max_inputs,
        paths="\n".join(paths),
    )
    return Response(text, headers=_HEADERS, media_type="text/html")


OPERATIONS = (
    Operation(
        "/v1/embeddings",
        embeddings.answer,
        "A vector for each text, in the shape of OpenAI's API",
        embeddings.Embeddings,
        embeddings.EmbeddingsRequest,
        encodings.VECTORS,
        (406, *_COMPUTED),
    ),
    Operation(
        "/v1/token_embeddings",
        embeddings.answer_tokens,
        "For each text its tokens, their positions in it, and their vectors in every layer",
        embeddings.TokenEmbeddings,
        embeddings.TokenEmbeddingsRequest,
        encodings.VECTORS,
        (406, *_COMPUTED),
    ),
    Operation(
        "/v1/similarity",
        similarity.answer,
        "The cosine of every token of one text with every token of another",
        similarity.Similarity,
        similarity.SimilarityRequest,
        refusals=_COMPUTED,
    ),
    Operation(
        "/v1/substitutes",
        substitutes.answer,
        "The words that each direction of the model expects in one position of a sentence",
        substitutes.Substitutes,
        substitutes.SubstitutesRequest,
        refusals=_COMPUTED,
    ),
    *(
        Operation(
            path,
            rerank.answer,
            "Documents by how well they answer a query, in the shapes of Cohere's, Jina's and Hugging Face's APIs",
            rerank.Reranked | list[rerank.Rank],
            rerank.RerankRequest,
            refusals=_COMPUTED,
        )
        for path in ("/rerank", "/v1/rerank", "/v2/rerank")
    ),
    *(
        Operation(
            path,
            inference.embed,
            "A vector for each text, in the shape of Hugging Face's text-embeddings-inference",
            list[list[float]],
            inference.EmbedRequest,
            encodings.VECTORS,
            (406, *_COMPUTED),
        )
        for path in ("/embed", "/")
    ),
    Operation(
        "/embed_all",
        inference.embed_all,
        "A vector for each token of each text, in the shape of text-embeddings-inference",
        list[list[list[float]]],
        inference.EmbedAllRequest,
        encodings.VECTORS,
        (406, *_COMPUTED),
    ),
    Operation(
        "/tokenize",
        inference.tokenize,
        "The tokens of each text, in the shape of text-embeddings-inference",
        list[list[inference.Token]],
        inference.TokenizeRequest,
    ),
    Operation("/v1/models", status.models, "The models of this server", status.Models),
    Operation("/v1/models/{name}", status.model, "One of the models", status.Model, refusals=(404,)),
    Operation("/info", status.info, "What runs here: version, limits, models", status.Info),
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
    Operation("/docs", page, "This page, for people; also at /", None, media_types=("text/html",)),
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
    refusals = {str(status): {"description": _REASONS[status], **refused} for status in sorted(set(statuses))}
    found: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": re.sub(r"\W+", "_", operation.path.strip("/{}")) or "root",
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
