"""The exact perplexity of a tokenized text, of all of it and of each of its sources, as JSON.

    python runs/quality/perplexity_by_source.py MODEL TEXT MANIFEST [--part SET/SPLIT]

A manifest says which lines come from which source. It is a table of tab-separated columns under a header line, a
document per row. `first_line` (from 1) and `lines` are the document's place in its file; `set` and `split`, where there
are such columns, say which file that is: lm-en/test.txt.xz is looked up as set lm-en, split test; `--part` names
another. Its source is what the column `group` says, or `source`, or else the first part of `doc` ("nsmc" of
"nsmc/10072").
"""

import argparse
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from elmo.errors import ConfigError, ElmoError, TextError
from elmo.lm.named_model import load_language_model
from elmo.lm.perplexity import SentenceScore, evaluate
from elmo.lm.sums import Perplexity, Sums
from elmo.text.files.lines import utf8_lines

ELSEWHERE = "(not in the manifest)"

_NUMBER = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True)
class Document:
    """A row of a manifest."""

    first_line: int
    """From 1."""
    end: int
    """One past its last line."""
    source: str


def source_of(line: int, documents: Sequence[Document]) -> str:
    """The source of a line, from 1, among documents in their order; ELSEWHERE for a line of no document."""
    place = bisect_right(documents, line, key=attrgetter("first_line")) - 1
    if place < 0 or line >= documents[place].end:
        return ELSEWHERE
    return documents[place].source


def read_manifest(path: Path | str, part: str) -> list[Document]:
    """The documents of one file, in their order.

    `part`: "SET/SPLIT", as the manifest's columns `set` and `split` call that file; a column that the manifest lacks
    isn't compared.

    Raises TextError for a file that is not a manifest, with file and line; ConfigError if it has no such part.
    """
    wanted_set, _, wanted_split = part.rpartition("/")
    documents, parts = [], set()
    for where, row in _rows(path):
        found = (row.get("set", wanted_set), row.get("split", wanted_split))
        parts.add("/".join(found))
        if found == (wanted_set, wanted_split):
            documents.append(_document(where, row))
    if not documents:
        raise ConfigError(
            f"{path} has no documents of {part!r}, so no line would have a source. Its parts are: "
            f"{', '.join(sorted(parts)[:20])}. Name one of them with --part."
        )
    documents.sort(key=attrgetter("first_line", "end"))
    _require_apart(path, part, documents)
    return documents


def _require_apart(path: Path | str, part: str, documents: Sequence[Document]) -> None:
    """TextError if a line belongs to two documents: they are probably of different files."""
    for document, following in pairwise(documents):
        if following.first_line < document.end:
            raise TextError(
                f"{path}: line {following.first_line} of {part!r} belongs to two documents, of the sources "
                f"{document.source!r} and {following.source!r}. If the rows are of several files, name these in the "
                "columns set and split; otherwise correct first_line or lines."
            )


def part_of(text: Path | str) -> str:
    """What a manifest probably calls a text: "lm-en/test" of ".../lm-en/test.txt.xz"."""
    path = Path(text)
    return f"{path.parent.name}/{path.name.split('.')[0]}"


def _rows(path: Path | str) -> Iterator[tuple[str, dict[str, str]]]:
    """File and line of each row, for messages, and its cells by column."""
    lines = utf8_lines(path)
    header = next(lines, "").split("\t")
    missing = [name for name in ("first_line", "lines") if name not in header]
    if missing or not {"group", "source", "doc"} & set(header):
        raise TextError(
            f"{path}:1: no column {', '.join(missing) or 'group, source or doc'}. A manifest begins with a header line "
            f"that names its tab-separated columns; here they are: {', '.join(header)[:200]}."
        )
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise TextError(
                f"{path}:{number}: {len(cells)} columns, but the header has {len(header)}. Separate columns by one tab "
                "each."
            )
        yield f"{path}:{number}", dict(zip(header, cells, strict=True))


def _document(where: str, row: dict[str, str]) -> Document:
    for name, least in (("first_line", 1), ("lines", 0)):
        if not _NUMBER.fullmatch(row[name]) or int(row[name]) < least:
            raise TextError(
                f"{where}: {name} must be a whole number from {least} on, of at most 12 digits (got {row[name]!r}). "
                "Change it."
            )
    first = int(row["first_line"])
    source = row.get("group") or row.get("source") or row.get("doc", "").split("/")[0]
    return Document(first, first + int(row["lines"]), source)


@dataclass
class BySource:
    """Adds up the scores of each source of a text."""

    documents: Sequence[Document]
    """Those of the text, as `read_manifest` gives them."""
    _sums: dict[str, Sums] = field(default_factory=dict)

    def add(self, line: int, score: SentenceScore) -> None:
        """Adds the sentence of this line, counted from 1."""
        source = source_of(line, self.documents)
        if source not in self._sums:
            self._sums[source] = Sums(list(score.nats))
        score.add_to(self._sums[source])

    def perplexities(self) -> dict[str, Perplexity]:
        """Source -> its perplexity, the source with the most tokens first."""
        found = {source: sums.perplexity() for source, sums in self._sums.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1].num_predictions))


def main(arguments: Sequence[str] | None = None) -> int:
    """0: printed; 2: the model, the text or the manifest can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("model", help="a name, a folder or file")
    parser.add_argument("text", type=Path, help="tokenized sentences, one a line")
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--part", help="SET/SPLIT of the text in the manifest (default: from its folder and file name)")
    options = parser.parse_args(arguments)
    try:
        by_source = BySource(read_manifest(options.manifest, options.part or part_of(options.text)))
        lines = [
            (number, line.split()) for number, line in enumerate(utf8_lines(options.text), start=1) if line.split()
        ]
        numbers = iter([number for number, _ in lines])
        whole = evaluate(
            load_language_model(options.model),
            [tokens for _, tokens in lines],
            each=lambda score: by_source.add(next(numbers), score),
        )
    except (ElmoError, OSError) as error:
        print(f"perplexity_by_source: {error}", file=sys.stderr)
        return 2
    sources = {name: figures.to_dict() for name, figures in by_source.perplexities().items()}
    print(json.dumps({"text": str(options.text), **whole.to_dict(), "sources": sources}, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
