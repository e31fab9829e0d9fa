"""join_shards: the files of all shards -> the file of a single run, byte by byte."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import numpy as np

from elmo.embed.corpus.places import check_output, require_space
from elmo.embed.corpus.planned_text import Shard
from elmo.embed.corpus.vectors_folder import VectorsFolder
from elmo.embed.storage.layout import FIRST_ROW, VectorLayout, files_of, format_of_file
from elmo.embed.storage.readers import StoredVectors, read_vectors
from elmo.embed.storage.text_columns import StoredRow, TextColumns
from elmo.embed.storage.writers import FileContent, put_in_place
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
        if (own := format_of_file(Path(shard))) != file_format:
            raise ConfigError(
                f"{shard} is {own}, but {output} is {file_format}: shards are joined in their own "
                "format. Give the output their ending."
            )
    partial = VectorsFolder(output)
    with ExitStack() as stack:
        parts = _in_order([stack.enter_context(read_vectors(shard)) for shard in shards])
        stack.enter_context(partial.held())
        partial.empty()
        reported = stack.enter_context(following(progress))
        content = _content(parts, Count(reported, "joining", sum(map(len, parts)), "rows"))
        require_space(partial.path, content.layout, overhead=content.overhead_bytes)
        content.write(file_format, partial.joined)
        put_in_place(partial.joined, output, file_format, force=force)
    layout = content.layout
    return {
        "output": str(output),
        "shards": len(parts),
        "rows": len(layout.lengths),
        "tokens": layout.num_tokens,
        "bytes": output.stat().st_size,
    }


def _content(parts: Sequence[StoredVectors], joined: Count) -> FileContent:
    """What the shards are together. `joined` counts their rows."""
    facts, firsts = parts[0].metadata, [int(part.metadata[FIRST_ROW]) for part in parts]
    num_layers = int(facts["num_layers"]) if facts["layers"] == "all" else None
    lengths = np.array([length for part in parts for length in part.lengths()], dtype=np.int64)
    is_pooled, store = parts[0].is_pooled, cast(Any, facts["store"])

    def rows() -> Iterator[StoredRow]:
        return (part.row(row) for part in parts for row in range(len(part)))

    tokens = np.array([len(row.spans) for row in rows()], dtype=np.int64) if is_pooled else lengths

    def windows() -> Iterator[list[Float[np.ndarray, "*layers tokens dim"]]]:
        for part in parts:
            for window in part.windows():
                yield [np.expand_dims(part[row], -2) if is_pooled else part[row] for row in window]
                joined.add(len(window))

    def sentence_index() -> dict[str, str] | None:
        """Of equal sentences the last one's row, in the order of the first ones."""
        index: dict[str, str] = {}
        for part, first in zip(parts, firsts, strict=True):
            if (found := part.sentence_index()) is None:
                return None
            index |= {sentence: str(first + int(row)) for sentence, row in found.items()}
        return index

    return FileContent(
        VectorLayout(lengths, num_layers, int(facts["dim"]), store, is_pooled),
        {name: value for name, value in facts.items() if name not in _OF_SHARDS} | {"run": facts[WHOLE_RUN]},
        # Boundaries are among the stored tokens already.
        TextColumns(parts[0].has_tokens, None, tuple(json.loads(facts.get("files", "[]"))), facts.get("rows") == "ids"),
        rows,
        sentence_index,
        windows,
        tokens,
    )


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
            f"{len(missing)} of {count} shards missing: {', '.join(missing)}. Embed what is missing (--shard "
            f"{missing[0]}/{count}), then join all."
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
