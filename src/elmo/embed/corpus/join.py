"""join_shards: the files of all shards -> the file of a single run, byte by byte."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from elmo.embed.corpus.disk_space import require_space
from elmo.embed.corpus.partial_folder import PartialFolder
from elmo.embed.corpus.places import check_output
from elmo.embed.corpus.shards import Shard
from elmo.embed.storage.layout import FIRST_ROW, VectorLayout, files_of, format_of
from elmo.embed.storage.readers import StoredVectors, read_vectors
from elmo.embed.storage.text_columns import StoredRow, TextColumns
from elmo.embed.storage.writers import WRITERS
from elmo.errors import ConfigError, TextError
from elmo.process.keywords import known_keywords
from elmo.process.progress.report import Count, Progress, following
from elmo.shapes import Float
from elmo.text.files.text_file import require_other_file

SHARD, ALL_ROWS, WHOLE_RUN = "shard", "shard_of_rows", "shard_of_run"
_OF_SHARDS = (SHARD, ALL_ROWS, WHOLE_RUN, FIRST_ROW)


@known_keywords
def join_shards(
    shards: Sequence[Path | str], output: Path | str, *, force: bool = False, progress: Progress | bool = False
) -> dict[str, Any]:
    """Joins the files that `embed_corpus(..., shard="1/n")` to `shard="n/n"` made, in any order; gives a report.

    The result is that of one run over the whole text, byte by byte, and of the shards' format. The shards stay. The
    report has `output`, `shards`, `rows`, `tokens` and `bytes`. `progress`: receives the rows that are joined; True: a
    bar on stderr.
    Raises TextError for a file that is not a shard, ConfigError if they are not all shards of one run, each once,
    OutputError if the output exists (`force` replaces it) or the disk is full.
    """
    output = Path(output)
    if not shards:
        raise ConfigError("there is no shard to join. Name the files of all shards.")
    file_format = check_output(output, None, force=force)
    for shard in shards:
        for target in files_of(output, file_format):
            require_other_file(shard, target, kind="shard")
        if format_of(Path(shard)) != file_format:
            raise ConfigError(
                f"{shard} is {format_of(Path(shard))}, but {output} is {file_format}: shards are joined in their own "
                "format. Give the output their ending."
            )
    partial = PartialFolder(output, WRITERS[file_format].work_files)
    with ExitStack() as stack:
        parts = _in_order([stack.enter_context(read_vectors(shard)) for shard in shards])
        whole = _Whole(parts)
        layout = whole.layout
        stack.enter_context(partial.held())
        partial.empty()
        writer = WRITERS[file_format](partial.path, layout, whole.metadata, whole.columns)
        index = whole.sentence_index()
        require_space(partial.path, layout, copies=writer.copies, overhead=writer.overhead_bytes(index), done=0)
        with closing(writer):
            writer.create(index, whole.rows())
            joined = Count(stack.enter_context(following(progress)), "joining", len(layout.lengths), "rows")
            for first, rows, arrays in whole.windows():
                writer.write(first, rows, arrays)
                joined.add(len(rows))
            writer.finish(output, force=force)
        partial.empty()
    return {
        "output": str(output),
        "shards": len(parts),
        "rows": len(layout.lengths),
        "tokens": layout.num_tokens,
        "bytes": output.stat().st_size,
    }


@dataclass(frozen=True)
class _Whole:
    """What the shards are together."""

    parts: Sequence[StoredVectors]

    @property
    def metadata(self) -> dict[str, str]:
        """Of the single run."""
        first = self.parts[0].metadata
        return {name: value for name, value in first.items() if name not in _OF_SHARDS} | {"run": first[WHOLE_RUN]}

    @property
    def columns(self) -> TextColumns:
        """Boundaries stand among the stored tokens already."""
        files = tuple(json.loads(self.parts[0].metadata.get("files", "[]")))
        return TextColumns(has_tokens=self.parts[0].has_tokens, files=files)

    @cached_property
    def layout(self) -> VectorLayout:
        """Of all rows."""
        facts = self.parts[0].metadata
        num_layers = int(facts["num_layers"]) if facts["layers"] == "all" else None
        lengths = np.array([length for part in self.parts for length in part.lengths()], dtype=np.int64)
        return VectorLayout(lengths, num_layers, int(facts["dim"]), facts["store"])  # type: ignore[arg-type]

    def rows(self) -> Iterator[StoredRow]:
        """The text of all rows."""
        return (part.row(row) for part in self.parts for row in range(len(part)))

    def windows(self) -> Iterator[tuple[int, list[StoredRow], list[Float[np.ndarray, "*layers tokens dim"]]]]:
        """The rows that were written together: the number of the first one, their text, and their arrays."""
        for part in self.parts:
            first = int(part.metadata[FIRST_ROW])
            for rows in part.windows():
                yield first + rows.start, [part.row(row) for row in rows], [part[row] for row in rows]

    def sentence_index(self) -> dict[str, str] | None:
        """Of equal sentences the last one's row, in the order of the first ones."""
        index: dict[str, str] = {}
        for part in self.parts:
            found = part.sentence_index()
            if found is None:
                return None
            first = int(part.metadata[FIRST_ROW])
            index |= {sentence: str(first + int(row)) for sentence, row in found.items()}
        return index


def _in_order(parts: Sequence[StoredVectors]) -> list[StoredVectors]:
    """The shards by their rows; ConfigError unless they are all of one run, each once."""
    for part in parts:
        if any(name not in part.metadata for name in _OF_SHARDS):
            raise TextError(
                f"{part.path}: is not a shard: it is a whole file of vectors. Name files that 'elmo embed --shard' "
                "made."
            )
    first = parts[0]
    by_index: dict[int, StoredVectors] = {}
    count = Shard.of(first.metadata[SHARD]).count
    for part in parts:
        shard = Shard.of(part.metadata[SHARD])
        if part.metadata[WHOLE_RUN] != first.metadata[WHOLE_RUN] or shard.count != count:
            raise ConfigError(
                f"{part.path} and {first.path} are shards of different runs: their texts, models, settings or numbers "
                "of shards differ. Embed them anew with the same."
            )
        if shard.index in by_index:
            raise ConfigError(
                f"{part.path} and {by_index[shard.index].path} are both shard {shard}. Name each one once."
            )
        by_index[shard.index] = part
    if missing := [str(index) for index in range(1, count + 1) if index not in by_index]:
        raise ConfigError(
            f"of {count} shards {len(missing)} are missing: {', '.join(missing)}. Embed them with --shard "
            f"{missing[0]}/{count} and so on, then join all."
        )
    ordered = [by_index[index] for index in sorted(by_index)]
    row = 0
    for part in ordered:
        if int(part.metadata[FIRST_ROW]) != row:
            raise TextError(
                f"{part.path}: begins at row {part.metadata[FIRST_ROW]}, not {row}. Embed this shard again."
            )
        row += len(part)
    if row != int(first.metadata[ALL_ROWS]):
        raise TextError(f"{ordered[-1].path}: rows are missing at the end. Embed this shard again.")
    return ordered
