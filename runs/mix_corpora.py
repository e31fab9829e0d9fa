"""One training text of several sets of documents, in an order that depends on none: any prefix is a fair sample.

    python runs/mix_corpora.py OUT.txt SET [SET ...] [--share SOURCE=SHARE ...]

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

from elmo.errors import ConfigError, ElmoError, TextError
from elmo.text.text_file import opened


@dataclass(frozen=True)
class Document:
    """Lines of a text, and the hash of the document's name and copy that gives it its place in the order."""

    digest: str
    lines: Sequence[str]
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
    lines = lines_of(find(folder, "train.txt"))
    manifest = lines_of(find(folder, "manifest.tsv"))
    header = manifest[0].split("\t")
    for text in manifest[1:]:
        row = dict(zip(header, text.split("\t"), strict=True))
        if row["split"] != "train" or row.get("set", folder.name) != folder.name:
            continue
        share = min((share for source, share in shares.items() if row.get("source", "").startswith(source)), default=1)
        first = int(row["first_line"]) - 1
        for digest in copies_of(row["doc"], share):
            yield Document(digest, lines, first, first + int(row["lines"]))


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
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("sets", type=Path, nargs="+", metavar="SET")
    parser.add_argument("--share", action="append", default=[], metavar="SOURCE=SHARE")
    options = parser.parse_args(arguments)
    try:
        shares = shares_of(options.share)
        documents = [document for folder in options.sets for document in documents_of(folder, shares)]
        documents.sort(key=lambda document: document.digest)
        with options.output.open("w", encoding="utf-8", newline="\n") as file:
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
