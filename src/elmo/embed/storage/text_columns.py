"""Text columns: what a file of vectors holds beside them, so that each vector can be joined to its text.

    tokens       of each row, <S> and </S> among them where their vectors are
    spans        where each token begins and ends, in characters of its line, cell or paragraph; -1 for what isn't there
    line         that the row begins at, from 1
    sentence     number of the row in that line, from 1
    file         number of the row's file, from 0, where a text has several
    id           of the record that the row is, in FASTA

HDF5 has them in the group `text`: `offsets` (rows + 1,) is where the tokens of each row begin in `tokens` (tokens,)
and `spans` (tokens, 2); `line`, `sentence` and `file` are (rows,), `files` has the files' names. npy has a JSON object
per row in OUT.text.jsonl. Parquet has columns. HDF5 of FASTA has no group: each dataset has attributes of its own.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from elmo.disk.output import escaped
from elmo.errors import TextError
from elmo.text.reading.placed import PlacedSentence
from elmo.text.reading.spans import NOWHERE

GROUP = "text"
_ROWS_AT_A_TIME = 4096


@dataclass(frozen=True)
class StoredRow:
    """A row of a text and its place, as it was stored."""

    tokens: list[str]
    """Empty if the words were left out of the file."""
    spans: NDArray[np.int64]
    """(tokens, 2) in characters of the line, cell or paragraph"""
    line: int
    sentence: int = 1
    file: int = 0
    id: str | None = None


TextRow = PlacedSentence | StoredRow
"""A row of a text and its place: of the text itself, or as a file has it."""


@dataclass(frozen=True)
class TextColumns:
    """Which of them a file has."""

    has_tokens: bool = True
    boundary_tokens: tuple[str, str] | None = None
    """The tokens before and after each row's own, if their vectors are kept."""
    files: tuple[str, ...] = ()
    """The names of the files, if there are several."""
    has_ids: bool = False
    """Whether every row has an id: FASTA."""

    def tokens(self, row: TextRow) -> list[str]:
        """The tokens that the vectors of a row belong to."""
        found = list(row.tokens)
        if self.boundary_tokens is not None:
            found = [self.boundary_tokens[0], *found, self.boundary_tokens[1]]
        return [storable(token) for token in found]

    def spans(self, row: TextRow) -> NDArray[np.int64]:
        """(tokens, 2) the spans of these tokens."""
        spans = np.asarray(row.spans, dtype=np.int64).reshape(-1, 2)
        return spans if self.boundary_tokens is None else np.concatenate([[NOWHERE], spans, [NOWHERE]])


def storable(token: str) -> str:
    """Lone surrogates, which UTF-8 can't encode, become question marks; NUL, which HDF5 can't hold, becomes U+2400."""
    return token.encode("utf-8", "replace").decode("utf-8").replace("\0", "\u2400")


def write_hdf5(file: h5py.File, rows: Iterable[TextRow], lengths: NDArray[np.int64], columns: TextColumns) -> None:
    """The group `text`; `lengths`: (rows,) vectors of each."""
    group = file.create_group(GROUP)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    group["offsets"] = offsets
    total, num_rows = int(offsets[-1]), len(lengths)
    spans = group.create_dataset("spans", (total, 2), np.int32)
    tokens = group.create_dataset("tokens", (total,), h5py.string_dtype()) if columns.has_tokens else None
    line, sentence = (np.zeros(num_rows, np.int64) for _ in range(2))
    number = np.zeros(num_rows, np.int32)
    stream, first = iter(rows), 0
    while found := list(islice(stream, _ROWS_AT_A_TIME)):
        stop = first + len(found)
        at = slice(int(offsets[first]), int(offsets[min(stop, num_rows)]))
        of_rows = [columns.spans(row) for row in found]
        if at.stop > at.start:
            spans[at] = np.concatenate(of_rows)
            if tokens is not None:
                tokens[at] = [token for row in found for token in columns.tokens(row)]
        line[first:stop] = [row.line for row in found]
        sentence[first:stop] = [row.sentence for row in found]
        number[first:stop] = [row.file for row in found]
        first = stop
    group["line"], group["sentence"] = line, sentence
    if columns.files:
        group["file"] = number
        group.create_dataset("files", data=list(columns.files), dtype=h5py.string_dtype())


def read_hdf5(file: h5py.File, row: int) -> StoredRow | None:
    """What `write_hdf5` wrote of a row; None if the file has none. Raises TextError for a file that was changed."""
    group = file.get(GROUP)
    if not isinstance(group, h5py.Group):
        return None
    start, stop = (int(at) for at in dataset(group, "offsets")[row : row + 2])
    tokens = list(dataset(group, "tokens").asstr()[start:stop]) if "tokens" in group else []
    line, sentence = (int(dataset(group, name)[row]) for name in ("line", "sentence"))
    number = int(dataset(group, "file")[row]) if "file" in group else 0
    return StoredRow(tokens, dataset(group, "spans")[start:stop].astype(np.int64), line, sentence, number)


def write_protein(dataset: h5py.Dataset, row: TextRow, columns: TextColumns) -> None:
    """What belongs to a protein, as attributes of its dataset: `original_id`, `line`, `length` in letters, `file`, and
    `sequence`, the letters."""
    dataset.attrs["original_id"] = row.id
    dataset.attrs["line"] = row.line
    if columns.files:
        dataset.attrs["file"] = columns.files[row.file]
    tokens, spans = columns.tokens(row), columns.spans(row)
    inner = slice(1, -1) if len(spans) and spans[0, 0] < 0 else slice(None)  # boundaries are nowhere
    dataset.attrs["length"] = len(spans[inner])
    if columns.has_tokens:
        dataset.attrs["sequence"] = "".join(tokens[inner])
    if inner.start:
        dataset.attrs["boundaries"] = [tokens[0], tokens[-1]] if columns.has_tokens else ["", ""]


def read_protein(dataset: h5py.Dataset, files: Sequence[str]) -> StoredRow:
    """What `write_protein` wrote."""
    attributes: Any = dataset.attrs
    tokens = list(attributes.get("sequence", ""))
    spans = np.arange(attributes["length"])[:, None] + [0, 1]
    if "boundaries" in attributes:
        before, after = attributes["boundaries"]
        tokens = [before, *tokens, after] if tokens else []
        spans = np.concatenate([[NOWHERE], spans, [NOWHERE]])
    number = list(files).index(attributes["file"]) if files else 0
    return StoredRow(tokens, spans, int(attributes["line"]), 1, number, attributes["original_id"])


def dataset(group: h5py.Group, name: str) -> h5py.Dataset:
    """A dataset by its name. Raises TextError if it is missing."""
    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise TextError(
            f"{group.file.filename}: {group.name}: there is no dataset {name!r}, so the file was changed or is "
            "incomplete. Embed the text again."
        )
    return found


def json_lines(rows: Iterable[TextRow], columns: TextColumns) -> Iterator[str]:
    """A line of JSON for each row."""
    for row in rows:
        values = ({"id": row.id} if columns.has_ids else {}) | {"line": row.line, "sentence": row.sentence}
        values |= {"file": columns.files[row.file]} if columns.files else {}
        values |= {"tokens": columns.tokens(row)} if columns.has_tokens else {}
        yield json.dumps(values | {"spans": columns.spans(row).tolist()}, ensure_ascii=False) + "\n"


def row_of_json(line: bytes, files: Sequence[str]) -> StoredRow:
    """What `json_lines` wrote of a row. ValueError or KeyError for anything else."""
    values = json.loads(line)
    number = files.index(values["file"]) if "file" in values else 0
    spans = np.array(values["spans"], dtype=np.int64).reshape(-1, 2)
    return StoredRow(values.get("tokens", []), spans, values["line"], values["sentence"], number, values.get("id"))


def arrow_columns(arrow: Any, rows: Sequence[TextRow], columns: TextColumns) -> dict[str, Any]:
    """Columns of a Parquet file."""
    spans = [columns.spans(row) for row in rows]
    of_ints = arrow.list_(arrow.int32())
    found = {"id": arrow.array([row.id for row in rows], arrow.string())} if columns.has_ids else {}
    found |= {
        "line": arrow.array([row.line for row in rows], arrow.int64()),
        "sentence": arrow.array([row.sentence for row in rows], arrow.int32()),
    }
    if columns.files:
        found["file"] = arrow.array([columns.files[row.file] for row in rows], arrow.string())
    if columns.has_tokens:
        found["tokens"] = arrow.array([columns.tokens(row) for row in rows], arrow.list_(arrow.string()))
    found["starts"] = arrow.array([it[:, 0].tolist() for it in spans], of_ints)
    found["ends"] = arrow.array([it[:, 1].tolist() for it in spans], of_ints)
    return found


def row_of_arrow(values: dict[str, Any], files: Sequence[str]) -> StoredRow:
    """What `arrow_columns` gave of a row."""
    number = files.index(values["file"]) if values.get("file") is not None else 0
    spans = np.array([values["starts"], values["ends"]], dtype=np.int64).T.reshape(-1, 2)
    return StoredRow(values.get("tokens") or [], spans, values["line"], values["sentence"], number, values.get("id"))


def names_of_files(paths: Sequence[Path | str]) -> tuple[str, ...]:
    """What a file of vectors calls the files of its text: nothing where there is one, and no folders."""
    names = tuple(Path(path).name for path in paths) if len(paths) > 1 else ()
    if len(set(names)) < len(names):
        # Two of one name in different folders.
        names = tuple(str(path) for path in paths)
    return tuple(map(escaped, names))
