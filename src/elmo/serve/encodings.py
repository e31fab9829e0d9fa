"""How vectors travel: the media types of an answer, which of them a client takes, and how each is written.

An array in JSON is nested lists of numbers, or base64 of its bytes. A safetensors file has tensor "0" for the first
input, "1" for the second, and so on. An Arrow stream is one table with a row for each token, or for each input where
its tokens are pooled; its columns are `index` of the input (from 0); of tokens `token`, `start` and `end` (null for a
token that isn't in the text); `vector`, or `layer_0`, `layer_1`, ... where all layers are kept.
"""

import base64
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import msgspec
import numpy as np
from safetensors.numpy import save

from elmo.serve.answers import Refusal
from elmo.serve.inputs import Span
from elmo.shapes import Float32

JSON = "application/json"
LINES = "application/x-ndjson"
"""A JSON object in each line, one for each input, sent as soon as its vectors are computed."""
SAFETENSORS = "application/vnd.elmo.safetensors"
ARROW = "application/vnd.apache.arrow.stream"

VECTORS = (JSON, LINES, SAFETENSORS, ARROW)
"""Of answers with vectors; the first is sent to a client that takes anything."""

Encoding = Literal["float", "base64"]

Numbers = list[float | list[float | list[float]]]
"""The axes of an array as nested lists: (dim), (tokens, dim) or (layers, tokens, dim)."""


def accepted(header: str) -> str:
    """The media type of `VECTORS` that an Accept header gives the most weight; the first among equals.

    Raises Refusal: 406 if it takes none of them, or Arrow alone where pyarrow is not installed.
    """
    ranges = _ranges(header)
    weights = {media_type: _weight(media_type, ranges) for media_type in VECTORS}
    if weights[ARROW] and find_spec("pyarrow") is None:  # no Arrow stream can be written here
        del weights[ARROW]
    best = max(weights, key=lambda media_type: weights[media_type])  # the first of equal ones
    if weights[best] > 0:
        return best
    raise Refusal(
        406,
        f"Accept is {header[:200]!r}, but this path answers with {', '.join(weights)}. Send one of them, or leave the "
        "header out for JSON.",
        "not_acceptable",
    )


def _ranges(header: str) -> dict[str, float]:
    """Media range -> its weight q."""
    if not header.strip():
        return {"*/*": 1.0}
    found = {}
    for part in header.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = next((value[2:] for value in parameters if value.startswith("q=")), "1")
        found[media_range] = _number(weight)
    return found


def _number(text: str) -> float:
    """q is 0 to 1 with at most three decimals; anything else counts as 0."""
    is_number = text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 5
    return min(1.0, float(text)) if is_number else 0.0


def _weight(media_type: str, ranges: dict[str, float]) -> float:
    """Of the most specific range that covers the type."""
    kind = media_type.partition("/")[0]
    return next((ranges[name] for name in (media_type, f"{kind}/*", "*/*") if name in ranges), 0.0)


def encoded(array: Float32[np.ndarray, "*axes dim"], encoding: Encoding) -> str | msgspec.Raw:
    """As nested lists, ready as JSON, or as base64 of little-endian float32 in C order."""
    if encoding == "float":
        return msgspec.Raw(_numbers(array))
    return base64.b64encode(np.ascontiguousarray(array, "<f4").data).decode("ascii")


def _numbers(array: Float32[np.ndarray, "*axes dim"]) -> bytes:
    """Vector by vector: other threads run in between, which one call for a large array would not allow."""
    if array.ndim == 1:
        return msgspec.json.encode(array.tolist())
    return b"[" + b",".join(map(_numbers, array)) + b"]"


def safetensors_file(arrays: Sequence[Float32[np.ndarray, "..."]], facts: Mapping[str, str]) -> bytes:
    """The file's bytes. `facts` become the file's metadata."""
    tensors = {str(place): np.ascontiguousarray(array) for place, array in enumerate(arrays)}
    return save(tensors, dict(facts))


def arrow_of_inputs(arrays: Sequence[Float32[np.ndarray, " dim"]], facts: dict[str, str]) -> bytes:
    """A row for each input."""
    return _stream({"index": np.arange(len(arrays), dtype=np.int32)}, np.stack(arrays)[None], facts)


def arrow_of_tokens(
    arrays: Sequence[Float32[np.ndarray, "*layers tokens dim"]],
    tokens: Sequence[Sequence[str]],
    spans: Sequence[Sequence[Span | None] | None],
    facts: dict[str, str],
) -> bytes:
    """A row for each token."""
    lengths = [len(row) for row in tokens]
    places = [span for row, length in zip(spans, lengths, strict=True) for span in row or [None] * length]
    columns = {
        "index": np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        "token": [token for row in tokens for token in row],
        "start": [None if span is None else span[0] for span in places],
        "end": [None if span is None else span[1] for span in places],
    }
    layers = np.concatenate([array if array.ndim == 3 else array[None] for array in arrays], axis=1)
    return _stream(columns, layers, facts)


def _stream(columns: dict[str, Any], layers: Float32[np.ndarray, "layers rows dim"], facts: dict[str, str]) -> bytes:
    import pyarrow as pa  # of the extra `data`; a client that asks for Arrow is refused without it

    types = {"index": pa.int32(), "token": pa.string(), "start": pa.int32(), "end": pa.int32()}
    made = {name: pa.array(values, types[name]) for name, values in columns.items()}
    names = ["vector"] if len(layers) == 1 else [f"layer_{place}" for place in range(len(layers))]
    for name, layer in zip(names, layers, strict=True):
        made[name] = pa.FixedSizeListArray.from_arrays(pa.array(layer.reshape(-1)), layer.shape[-1])
    table = pa.table(made).replace_schema_metadata(facts)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
