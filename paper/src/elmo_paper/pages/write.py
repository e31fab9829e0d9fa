"""Writes docs/paper.md, docs/reproduction.md, docs/analysis.md and docs/explorer.md anew from the records.

    elmo-paper pages [RECORD.json ...]

Only the blocks of the pages are made, from `<!-- NAME -->` to `<!-- end -->`; everything else is written by hand and
stays as it is. The pictures are drawn too. Records of `elmo-paper analyze` that are named are first copied to
paper/records/analysis. At the end, the lines written by hand that hold measured figures are listed, for somebody to
read. Needs matplotlib: pip install 'pyelmo[analysis]'.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from elmo.analysis import plots
from elmo.disk.atomic import write_file
from elmo_paper.pages import analysis_page, paper_page, reproduction_page
from elmo_paper.places import ANALYSES, DOCS

PAGES: Mapping[str, Callable[[str], str]] = {
    "paper.md": paper_page.filled,
    "reproduction.md": reproduction_page.filled,
    "analysis.md": analysis_page.filled,
    "explorer.md": analysis_page.filled,
}
"""By page, what makes its blocks anew."""

WITHOUT_FIGURE = ("neighbors",)
"""Analyses whose figures would show nothing that the table doesn't."""


def main(argv: Sequence[str] | None = None) -> int:
    """Writes pages and pictures; the exit code."""
    made = argparse.ArgumentParser(
        "elmo-paper pages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("records", type=Path, nargs="*", metavar="RECORD.json", help="of an analysis, copied first")
    for path in made.parse_args(argv).records:
        shutil.copyfile(path, ANALYSES / path.name)
    draw(DOCS)
    for name, filled in PAGES.items():
        write_file(DOCS / name, filled((DOCS / name).read_text(encoding="utf-8")).encode())
    print("these lines hold figures and are written by hand; do they still hold?", file=sys.stderr)
    for name in ("analysis.md", "explorer.md"):
        lines = analysis_page.stale((DOCS / name).read_text(encoding="utf-8"))
        print(*(f"{name}: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def draw(docs: Path) -> None:
    """Draws every picture of the pages."""
    paper_page.draw_all(docs / "reproduction")
    for path in sorted(ANALYSES.glob("*.json")):
        record = analysis_page.read_record(path.stem)
        if record["analysis"] not in WITHOUT_FIGURE:
            plots.draw(record, docs / "analysis" / f"{path.stem}.svg", ".svg")
