"""The page of the HTTP API, made of the description that `elmo serve` gives of itself at /openapi.json."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_BEGIN = """# HTTP API

Every path, field and type of `elmo serve`, generated from the description that the server gives of itself at
`/openapi.json`. [The same file](openapi.json) for programs that read OpenAPI 3.1. [Vectors over HTTP](../serving.md)
explains them with examples.
"""


def page(document: Mapping[str, Any]) -> str:
    """The document in Markdown: a section for each path, then one for each type."""
    return "\n".join([_BEGIN, *_paths(document), *_statuses(document), "## Types\n", *_types(document)])


def _paths(document: Mapping[str, Any]) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"## {method.upper()} {path}\n\n{operation['summary']}.\n"
            if "requestBody" in operation:
                yield _fields(
                    "request", schemas[_name(operation["requestBody"]["content"]["application/json"]["schema"])]
                )
            content = operation["responses"]["200"]["content"]
            if "application/json" in content:
                schema = content["application/json"]["schema"]
                is_object = "$ref" in schema  # else a list, or one of several
                yield _fields("answer", schemas[_name(schema)]) if is_object else f"The answer: {_type(schema)}.\n"
            yield "Media types of the answer: " + ", ".join(f"`{kind}`" for kind in content) + ".\n"
            refusals = ", ".join(status for status in operation["responses"] if status != "200")
            yield f"[Statuses](#statuses) of errors: {refusals}.\n"


def _statuses(document: Mapping[str, Any]) -> Iterator[str]:
    """Every status of an error, with its meaning and the type of its body."""
    yield "## Statuses\n\nThe body of an error is an [ErrorBody](#errorbody).\n\n| status | meaning |\n|---|---|"
    operations = (operation for methods in document["paths"].values() for operation in methods.values())
    found = {status: it["description"] for operation in operations for status, it in operation["responses"].items()}
    yield "\n".join(f"| {status} | {found[status]} |" for status in sorted(found) if status != "200") + "\n"


def _types(document: Mapping[str, Any]) -> Iterator[str]:
    """What is part of a request or an answer; those that are nothing else are shown with their paths."""
    schemas = document["components"]["schemas"]
    whole = {
        _name(body["content"]["application/json"]["schema"])
        for methods in document["paths"].values()
        for operation in methods.values()
        for body in (operation.get("requestBody"), operation["responses"]["200"])
        if body is not None and "$ref" in body["content"].get("application/json", {}).get("schema", {})
    }
    parts = {name for name in schemas if f'schemas/{name}"' in json.dumps(schemas)}
    for name in sorted(schemas.keys() - whole | parts):
        yield f"### {name}\n\n{schemas[name].get('description', '')}\n"
        yield _fields("field", schemas[name])


def _fields(what: str, schema: Mapping[str, Any]) -> str:
    """A table of fields; those of a request with their defaults."""
    is_asked, required = what == "request", schema.get("required", ())
    rows = [f"| {what} | type | default |\n|---|---|---|" if is_asked else f"| {what} | type |\n|---|---|"]
    for name, kind in schema.get("properties", {}).items():
        default = f" {'required' if name in required else _default(kind)} |" if is_asked else ""
        rows.append(f"| `{name}` | {_type(kind)} |{default}")
    return "\n".join([*rows, ""])


def _default(kind: Mapping[str, Any]) -> str:
    return f"`{str(kind['default']).lower()}`" if kind.get("default") is not None else "left out"


def _type(kind: Mapping[str, Any]) -> str:
    if "$ref" in kind:
        name = _name(kind)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(_type(one) for one in kind["anyOf"])
    if "enum" in kind:
        return ", ".join(f'`"{value}"`' for value in kind["enum"])
    if "prefixItems" in kind:
        return f"[{', '.join(_type(one) for one in kind['prefixItems'])}]"
    if kind.get("type") == "array":
        return f"list of ({_type(kind['items'])})" if "anyOf" in kind["items"] else f"list of {_type(kind['items'])}"
    if kind.get("type") == "object" and isinstance(of := kind.get("additionalProperties"), dict):
        return f"object of {_type(of)}"
    return str(kind.get("type", "any value"))


def _name(schema: Mapping[str, Any]) -> str:
    return schema["$ref"].rsplit("/", 1)[1]
