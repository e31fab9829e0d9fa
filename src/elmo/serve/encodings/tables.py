"""Vectors as an Arrow stream of one table, with a row for each token, or for each input where its tokens are pooled.

Columns: `index` of the input (from 0); of tokens `token`, `start` and `end` (null where there is no place); `vector`,
or `layer_0`, `layer_1`, ... where all layers are kept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from elmo.serve.intake.inputs import Span
from elmo.shapes import Float32


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
