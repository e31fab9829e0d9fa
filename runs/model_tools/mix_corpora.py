"""One training text of several sets of documents, in an order that depends on none: any prefix is a fair sample.

    python runs/model_tools/mix_corpora.py OUT.txt SET [SET ...] [--share SOURCE=SHARE ...]

SET is a folder with `train.txt` (or `.xz`) and `manifest.tsv` (or `.xz`), whose columns `split`, `doc`, `source`,
`first_line` and `lines` say where its documents stand. A set that is named twice is taken twice.
`--share` takes only that part of the documents whose source begins with SOURCE, the same ones each time. A share of 2.5
takes all of them twice and half of them a third time, each time in another place.
"""

import argparse
import hashlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.disk.atomic import new_file
from elmo.errors import ConfigError, ElmoError, TextError
from elmo.text.files.text_file import opened

COLUMNS = ("split", "doc", "first_line", "lines")


@dataclass(frozen=True)
class Document:
    """Lines of a text, and the hash of the document's name and copy that gives it its place in the order."""

    digest: str
    lines: Sequence[str]
    first: int
    end: int


@dataclass(frozen=True)
class Row:
    """What the manifest says of a document; `first` and `end` count lines from 0."""

    document: str
    source: str
    first: int
    end: int


def find(folder: Path, name: str) -> Path:
    """`name` in the folder, or `name.xz`. Raises TextError if there is neither."""
    for path in (folder / name, folder / f"{name}.xz"):
        if path.is_file():
            return path
    raise TextError(f"{folder} has neither {name} nor {name}.xz, so it is not a set of documents. Check the folder.")


def lines_of(path: Path) -> list[str]:
    """All lines of a file, unpacked."""
    with opened(path) as (_, content):
        return content.read().decode("utf-8").removesuffix("\n").split("\n")


def documents_of(folder: Path, shares: dict[str, float]) -> Iterator[Document]:
    """The training documents of a set, each as often as its source's share says."""
    lines, name = lines_of(find(folder, "train.txt")), folder.resolve().name
    for row in rows_of(find(folder, "manifest.tsv"), name, len(lines)):
        for digest in copies_of(row.document, share_of(row.source, shares)):
            yield Document(digest, lines, row.first, row.end)


def rows_of(path: Path, name: str, num_lines: int) -> Iterator[Row]:
    """The training documents of set `name`, whose text has `num_lines`. Raises TextError for a row that has none."""
    header, *texts = lines_of(path)
    names = header.split("\t")
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        raise TextError(f"{path}:1: has no column {missing[0]!r}, only {', '.join(names)}. Name the columns there.")
    for number, text in enumerate(texts, start=2):
        columns = text.split("\t")
        row = dict(zip(names, columns, strict=False))
        if len(columns) != len(names) or not row["first_line"].isdecimal() or not row["lines"].isdecimal():
            raise TextError(f"{path}:{number}: no row of {len(names)} columns with numbers of lines. Correct it.")
        if row["split"] != "train" or row.get("set", name) != name:
            continue
        first, count = int(row["first_line"]) - 1, int(row["lines"])
        if not (0 <= first < first + count <= num_lines):
            raise TextError(
                f"{path}:{number}: says that {row['doc']} has {count:,} lines from line {first + 1:,} on, but the text "
                f"has {num_lines:,} lines, counted from 1. Text and manifest don't belong together."
            )
        yield Row(row["doc"], row.get("source", ""), first, first + count)


def share_of(source: str, shares: dict[str, float]) -> float:
    """That of the longest beginning of the source's name; 1 if there is none."""
    fitting = [begin for begin in shares if source.startswith(begin)]
    return shares[max(fitting, key=len)] if fitting else 1.0


def require_all_used(folders: Sequence[Path], shares: dict[str, float]) -> None:
    """ConfigError for a share of a source that no set has: a misspelled one would change nothing without a word."""
    rows = [
        row for folder in folders for row in rows_of(find(folder, "manifest.tsv"), folder.resolve().name, sys.maxsize)
    ]
    unused = [begin for begin in shares if not any(row.source.startswith(begin) for row in rows)]
    if unused:
        there = ", ".join(sorted({row.source for row in rows})[:20])
        raise ConfigError(f"--share {unused[0]}=...: no source begins like this. The sets have {there}. Correct it.")


def copies_of(document: str, share: float) -> Iterator[str]:
    """The hashes of a document's copies: of a share of 2.5 two of every one, and a third if its hash is small."""
    for copy in range(math.ceil(share)):
        name = "mix" + document + (f" {copy + 1}" if copy else "")
        digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
        if int(digest[8:16], 16) < (share - copy) * 2**32:
            yield digest


def shares_of(given: Sequence[str]) -> dict[str, float]:
    """["SOURCE=0.25"] -> {"SOURCE": 0.25}. Raises ConfigError for anything else, and for shares above 10."""
    shares = {}
    for text in given:
        source, _, number = text.rpartition("=")
        try:
            shares[source] = float(number)
        except ValueError:
            shares[source] = -1.0
        if not source or not 0 <= shares[source] <= 10:
            raise ConfigError(f"--share {text}: no SOURCE=SHARE with a share from 0 to 10. For instance books=0.25.")
    return shares


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: a set can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("sets", type=Path, nargs="+", metavar="SET")
    parser.add_argument("--share", action="append", default=[], metavar="SOURCE=SHARE")
    options = parser.parse_args(arguments)
    try:
        shares = shares_of(options.share)
        documents = [document for folder in options.sets for document in documents_of(folder, shares)]
        require_all_used(options.sets, shares)
        documents.sort(key=lambda document: document.digest)
        if not documents:
            raise TextError("the sets have no training documents. Check the columns split and set of their manifests.")
        with (
            new_file(options.output, size=0, force=True) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for document in documents:
                file.writelines(f"{line}\n" for line in document.lines[document.first : document.end])
    except (ElmoError, OSError) as error:
        print(f"mix_corpora: {error}", file=sys.stderr)
        return 2
    num_lines = sum(document.end - document.first for document in documents)
    print(f"{len(documents):,} documents, {num_lines:,} lines", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
