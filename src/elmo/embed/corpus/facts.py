"""The facts of a run: what its file says of itself, and all that decides what is in it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elmo.embed.corpus.join import ALL_ROWS, SHARD, WHOLE_RUN
from elmo.embed.corpus.part import TextPart
from elmo.embed.embedder import Embedder
from elmo.embed.storage.layout import FIRST_ROW, FileFormat, StoredType
from elmo.embed.storage.text_columns import TextColumns
from elmo.layer_choice import LayerChoice
from elmo.text.formats.form import form_of
from elmo.version import __version__
from elmo.weights.fingerprint import text_hash


@dataclass(frozen=True)
class FileForm:
    """How vectors and text are stored."""

    format: FileFormat
    store: StoredType
    columns: TextColumns

    @property
    def has_sentence_index(self) -> bool:
        """Whether the file says which row each sentence is: AllenNLP's does, if the words may be in it."""
        return self.format == "hdf5" and self.columns.has_tokens


@dataclass(frozen=True)
class RunFacts:
    """What is noted of a run."""

    metadata: dict[str, str]
    """What the file says of itself."""
    settings: dict[str, Any]
    """All that decides the file's content: a resumed run must have the same."""


def facts_of(embedder: Embedder, part: TextPart, choice: LayerChoice, form: FileForm, window: int | None) -> RunFacts:
    """The facts of the run that embeds `part`."""
    metadata = _metadata(embedder, part, choice, form)
    settings = metadata | {"format": form.format, "sentence_index": str(form.has_sentence_index)}
    settings |= _reading(embedder, part, window)
    run = _hash_of(settings)
    if part.shard is None:
        return RunFacts(metadata | {"run": run}, settings)
    settings |= {SHARD: str(part.shard)}
    places = {SHARD: str(part.shard), FIRST_ROW: str(part.source.first), ALL_ROWS: str(part.num_rows)}
    return RunFacts(metadata | places | {WHOLE_RUN: run, "run": _hash_of(settings)}, settings)


def _metadata(embedder: Embedder, part: TextPart, choice: LayerChoice, form: FileForm) -> dict[str, str]:
    """No dates, and names only of several files, so that equal runs give equal files."""
    several = {"files": json.dumps(form.columns.files)} if form.columns.files else {}
    words = {} if form.columns.has_tokens else {"words": "left out"}
    return (
        several
        | words
        | {
            "elmo_version": __version__,
            "model_hash": embedder.model_hash,
            "layers": choice.name,
            "num_layers": str(embedder.num_layers),
            "dim": str(embedder.layer_dim),
            "state": embedder.state if embedder.state_hash is None else f"{embedder.state} {embedder.state_hash}",
            "dtype": embedder.dtype,
            "store": form.store,
            "tokenizer": part.source.tokenizer_name,
            "sentences": part.source.reading.sentences,
            "keep_boundaries": str(embedder.keep_boundaries),
        }
    )


def _reading(embedder: Embedder, part: TextPart, window: int | None) -> dict[str, Any]:
    """Text, windows and products: what decides the content and isn't in the metadata."""
    source, plan = part.source, part.plan
    limits = embedder.window_limits(window)
    return {
        "text_sha256": plan.sha256,
        "text_bytes": plan.num_bytes,
        "encoding": source.reading.encoding,
        "errors": source.reading.errors,
        "text_formats": [
            form_of(path, source.reading.format, source.reading.field, source.reading.encoding).format
            for path in source.paths
        ],
        "field": source.reading.field,
        "plain_marks": {chr(mark): plain for mark, plain in source.marks.items()},
        "window_lines": limits[0],
        "window_tokens": limits[1],
        "max_tokens": embedder.max_tokens,
        "device": embedder.device.partition(":")[0],
        "products": embedder.products,
    }


def _hash_of(settings: Mapping[str, Any]) -> str:
    return text_hash(json.dumps(settings, sort_keys=True))
