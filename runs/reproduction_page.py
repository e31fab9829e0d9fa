"""Fills the tables and claims of docs/reproduction.md from their records, and draws the pictures from them.

    python runs/reproduction_page.py

A block of the page that begins with `<!-- table NAME -->` or `<!-- claims NAME -->` and ends with `<!-- end -->` is
made of docs/reproduction/NAME.json, as `elmo reproduce` wrote it. Everything else is left as it is. Needs matplotlib:
pip install 'pyelmo[analysis]'.
"""

import json
import re
import sys
from itertools import groupby
from pathlib import Path

from elmo.errors import ElmoError
from elmo.reproduce.pages.markdown import sentence
from elmo.reproduce.pages.pictures import draw
from elmo.reproduce.pages.tables import aligned, rows
from elmo.reproduce.record import Record

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "reproduction.md"
RECORDS = DOCS / "reproduction"

_BLOCK = re.compile(r"(<!-- (table|claims) ([\w.-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def read_record(name: str) -> Record:
    """One record of the page."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def filled(page: str) -> str:
    """The page with every block made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}{_block(found[2], read_record(found[3]))}\n{found[4]}", page)


def without_blocks(page: str) -> str:
    """What people wrote."""
    return _BLOCK.sub("", page)


def _block(kind: str, record: Record) -> str:
    if kind == "table":
        return "\n".join(aligned(rows(record)))
    claims = groupby(record["claims"], key=lambda one: one["claim"])
    return "\n".join(f"- {sentence(list(found))}" for _, found in claims)


def main() -> int:
    """Writes page and pictures; the exit code."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        for path in sorted(RECORDS.glob("*.json")):
            draw(read_record(path.stem), RECORDS / path.stem, suffixes=(".svg",))
    except ElmoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
