"""The blocks of the documentation's pages, made of the records.

A block begins with a line `<!-- KIND NAME ... -->` and ends with `<!-- end -->`; everything else is written by hand and
left as it is. Each kind is a function of its kind, the names behind it and the folders of the records, which gives the
block's lines.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from elmo_paper.pages import analyses, experiments
from elmo_paper.pages.beside import beside
from elmo_paper.pages.records import REPOSITORY, Folders
from elmo_paper.pages.summary import summary

BLOCK = re.compile(r"(<!-- (\w+)((?: [\w.-]+)*) -->\n)((?:(?!<!-- ).)*)(<!-- end -->)", flags=re.DOTALL)

_Maker = Callable[[str, Sequence[str], Folders], Iterator[str]]
KINDS: Mapping[str, _Maker] = {
    # docs/paper.md
    "summary": lambda _, __, folders: summary(folders),
    "gains": experiments.gains,
    "scores": experiments.as_printed,
    "claims": experiments.claims,
    "others": experiments.others,
    "layers": analyses.layers,
    "nearest": analyses.nearest,
    # docs/reproduction.md: an experiment, of the paper's six tasks or of the sections that are named
    **dict.fromkeys(("table1", "table2", "table3", "figure1", "figure2", "taglm", "bilms"), experiments.scores),
    "longer": experiments.longer,
    "unseen": experiments.unseen,
    # docs/analysis.md and docs/explorer.md
    "table": analyses.table,
    "cove": analyses.cove,
    "quality": analyses.quality,
    # docs/beside-a-transformer.md
    "beside": beside,
}


def filled(page: str, folders: Folders = REPOSITORY) -> str:
    """The page with every block made anew."""

    def made(found: re.Match[str]) -> str:
        begin, kind, names, _, end = found.groups()
        return "\n".join([begin.rstrip("\n"), *KINDS[kind](kind, names.split(), folders), end])

    return BLOCK.sub(made, page)


def without_blocks(page: str) -> str:
    """What people wrote."""
    return BLOCK.sub("", page)
