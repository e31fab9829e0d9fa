"""Writes docs/paper.md, reproduction.md, analysis.md, explorer.md and beside-a-transformer.md anew from the records.

    elmo-paper pages [RECORD.json ...]

Only the blocks of the pages are made, from `<!-- NAME -->` to `<!-- end -->`; everything else is written by hand and
stays as it is. The pictures are drawn too. Records of analyses that are named are first copied to
paper/records/analysis. At the end, the lines written by hand that hold measured figures are listed, for somebody to
read.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from elmo.disk.atomic import write_file
from elmo_paper.analysis import plots as analysis_plots
from elmo_paper.pages import plots
from elmo_paper.pages.blocks import filled, without_blocks
from elmo_paper.pages.records import ANALYSIS_OF, REPOSITORY, read
from elmo_paper.places import ANALYSES, DOCS

PAGES = ("paper.md", "reproduction.md", "analysis.md", "explorer.md", "beside-a-transformer.md")
_FIGURE = re.compile(r"\d\.\d|\d %|\d points")
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
    for name in PAGES:
        write_file(DOCS / name, filled((DOCS / name).read_text(encoding="utf-8")).encode())
    print("these lines hold figures and are written by hand; do they still hold?", file=sys.stderr)
    for name in ("analysis.md", "explorer.md", "beside-a-transformer.md"):
        lines = stale((DOCS / name).read_text(encoding="utf-8"))
        print(*(f"{name}: {line}" for line in lines), sep="\n", file=sys.stderr)
    return 0


def draw(docs: Path) -> None:
    """Draws every picture of the pages: of each record but those of table 1, and one each of tables 1 and 4 to 7."""
    drawn = docs / "reproduction"
    for path in sorted(REPOSITORY.records.glob("*.*.json")):
        record = read(path)
        if record.get("claims") and record["experiment"] != "table1":
            plots.draw(record, drawn / path.stem, (".svg",))
    plots.draw_gains(list(REPOSITORY.of("table1").values()), drawn / "table1", (".svg",))
    plots.draw_finetuned([*REPOSITORY.finetuned().values()], drawn / "table7", (".svg",))
    for table in ANALYSIS_OF:
        plots.draw_layers(table, list(REPOSITORY.analyzed(table).values()), drawn / table, (".svg",))
    for path in sorted(ANALYSES.glob("*.json")):
        record = REPOSITORY.analysis(path.stem)
        if record["analysis"] not in WITHOUT_FIGURE:
            analysis_plots.draw(record, docs / "analysis" / f"{path.stem}.svg")


def stale(page: str) -> Iterator[str]:
    """Lines of text, outside tables and blocks, that hold figures."""
    text = without_blocks(re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    return (line for line in text.splitlines() if _FIGURE.search(line) and not line.startswith("|"))
