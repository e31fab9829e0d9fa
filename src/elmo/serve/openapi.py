"""The description of the API that other programs read: OpenAPI 3.1, made from the operations and their types."""

import re
from typing import Any

import msgspec

from elmo.serve.encodings import media_types
from elmo.serve.operations import OPERATIONS, Operation
from elmo.serve.refusals import ErrorBody
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


def openapi(operations: tuple[Operation, ...] = OPERATIONS) -> dict[str, Any]:
    """The document, as plain values for JSON."""
    types = {kind: None for it in operations for kind in (it.reads, it.gives) if kind is not None}
    _, components = msgspec.json.schema_components([*types, ErrorBody], ref_template=_COMPONENT)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
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


def _operation(operation: Operation) -> dict[str, Any]:
    statuses = (*_ALWAYS, *(_OF_BODIES if operation.reads else ()), *operation.refusals)
    refusals = {str(status): {"description": _REASONS[status], **_json(ErrorBody)} for status in sorted(set(statuses))}
    found: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": re.sub(r"\W+", "_", operation.path.strip("/{}")),
        "responses": {"200": {"description": "The answer", "content": _content(operation)}} | refusals,
    }
    if names := re.findall(r"{(\w+)}", operation.path):
        found["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if operation.reads is not None:
        found["requestBody"] = {"required": True, **_json(operation.reads)}
    return found


def _content(operation: Operation) -> dict[str, Any]:
    if operation.gives is None:
        (kind,) = operation.media_types if operation.media_types != (media_types.JSON,) else ("text/plain",)
        return {kind: {"schema": {"type": "string"}}}
    others = {media_type: {} for media_type in operation.media_types if media_type != media_types.JSON}
    return _json(operation.gives)["content"] | others


def _json(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"content": {media_types.JSON: {"schema": {"$ref": _COMPONENT.format(name=kind.__name__)}}}}
