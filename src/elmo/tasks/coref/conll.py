"""CoNLL-2012 columns -> documents, and back byte for byte with another last column.

    #begin document (bc/cctv/00/cctv_0000); part 000
    bc/cctv/00/cctv_0000   0   0   Anna   NNP   (TOP*   -   -   -   Speaker#1   *   (3)
                                                              one token per row, a blank line after each sentence
    #end document

Read are the word (column 4), the speaker (column 10, where there are that many) and the last column, coreference.
Columns are separated by tabs if the row has one, else by spaces. A mention may extend beyond the end of a sentence, as
the reference scorer reads it. The parts of a cell are read from left to right; that scorer reads mentions of one token
first, then all beginnings, then all ends, which makes a difference for "1)|(1". What doesn't fit is a TextError with
the line.
Source: the shared task's description, Pradhan et al. 2012.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from elmo.errors import TextError
from elmo.tasks.coref.documents import NO_SPEAKER, Document, Mention, SourceLines, key_of
from elmo.tasks.lines import nothing_in, of_own_names, reporting
from elmo.text.files.decoding import BadLine
from elmo.text.formats.columns import UNDECODABLE, cells_of_row
from elmo.text.reading.as_trained import as_trained

EMPTY = "-"
_EMPTY_CELLS = (EMPTY, "_", "*", "")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")


class OpenMentions:
    """Reads the coreference column from top to bottom.

    A cell is "-" (in some files "_", "*" or nothing), or parts between "|": "(12" opens a mention of cluster 12, "12)"
    closes the latest one that is open, "(12)" is a mention of one token. Mentions of one cluster may nest.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[int]] = defaultdict(list)
        self.clusters: dict[str, list[Mention]] = {}
        """The mentions of each cluster so far, in the order of their ends."""

    def read(self, cell: str, token: int, where: str) -> None:
        """Reads the cell of a token. `where`: its file and line, for a TextError."""
        for name, opens, closes in parts_of(cell, where):
            if opens:
                self._open[name].append(token)
            if closes:
                if not self._open[name]:
                    raise TextError(
                        f"{where}: {cell!r} closes a mention of cluster {name} that was not opened: a mention would "
                        "end before it begins. Fix the last column."
                    )
                self.clusters.setdefault(name, []).append((self._open[name].pop(), token))

    def unclosed(self) -> tuple[str, int] | None:
        """The cluster and first token of a mention that is still open, the one that was opened first; or None."""
        still_open = [(starts[0], name) for name, starts in self._open.items() if starts]
        return None if not still_open else (min(still_open)[1], min(still_open)[0])


def parts_of(cell: str, where: str) -> list[tuple[str, bool, bool]]:
    """(cluster, whether it opens, whether it closes) of each part. TextError if it is not a cell."""
    if cell in _EMPTY_CELLS:
        return []
    found = []
    for part in cell.split("|"):
        match = _PART.fullmatch(part)
        if match is None or not (match[1] or match[3]):
            raise TextError(
                f"{where}: {cell!r} is not a coreference cell, which is '-' or like '(3', '3)', '(3)' or several of "
                "these with '|' between them. Fix the last column."
            )
        found.append((match[2], bool(match[1]), bool(match[3])))
    return found


def cells_of(clusters: Mapping[str, Sequence[Mention]], num_tokens: int) -> list[str]:
    """The column: on each token first closings (of the innermost mention first), then mentions of one token, then
    openings (of the outermost first)."""
    rows: list[list[tuple[int, int, str]]] = [[] for _ in range(num_tokens)]
    for name, mentions in clusters.items():
        for first, last in mentions:
            if first == last:
                rows[first].append((1, 0, f"({name})"))
            else:
                rows[last].append((0, -first, f"{name})"))
                rows[first].append((2, -last, f"({name}"))
    return ["|".join(part for *_, part in sorted(row, key=lambda part: part[:2])) or EMPTY for row in rows]


def say_the_same(cell: str, other: str) -> bool:
    """Whether two cells have the same parts, in any order, but for "(1" and "1)" of one cluster: "(1|1)" is another
    mention than "1)|(1"."""
    if cell in _EMPTY_CELLS and other in _EMPTY_CELLS:
        return True
    return Counter(cell.split("|")) == Counter(other.split("|")) and _halves(cell) == _halves(other)


def _halves(cell: str) -> list[str]:
    """The parts that only open or only close, by cluster, those of one in the order of the cell."""
    parts = [part for part in cell.split("|") if not (part.startswith("(") and part.endswith(")"))]
    return sorted(parts, key=lambda part: part.strip("()"))


BEGIN, END = "#begin document", "#end document"
_PART_OF_DOCUMENT = re.compile(r";\s*part\s+(\S+)\s*$")
_WORD, _SPEAKER, _MIN_COLUMNS, _COLUMNS_WITH_SPEAKER = 3, 9, 5, 11
# OntoNotes writes these marks with a slash before them.
_PLAIN_WORDS = {"/.": ".", "/?": "?"}


def conll_documents(lines: Iterable[str], source: str, on_bad: BadLine | None = None) -> list[Document]:
    """The documents in the lines of a file called `source`.

    Raises TextError with file and line for rows outside a document, columns that don't fit, brackets that don't close
    in their document, a mention that ends before it begins, and two documents of the same name and part. With `on_bad`,
    errors in a document are reported to it, and the document is left out.
    """
    found = list(_documents(lines, source, on_bad))
    if not found:
        raise nothing_in(source, f"line that begins with {BEGIN!r}")
    return of_own_names(found, key_of, on_bad)


def write_conll(document: Document, clusters: Mapping[str, Sequence[Mention]]) -> Iterator[str]:
    """The document's lines with these clusters, by name, in the last column.

    A cell that says the same as before stays as it was. A document that wasn't read from CoNLL columns gets twelve of
    them, with tabs between: the official scorer takes a word like "(2)" for a mention where there are spaces.
    """
    cells = cells_of(clusters, document.num_tokens)
    if document.conll is None:
        yield from _new_lines(document, cells)
        return
    lines = list(document.conll.lines)
    for row, cell in zip(document.conll.rows, cells, strict=True):
        lines[row] = _with_last_column(lines[row], cell)
    yield from lines


def _documents(lines: Iterable[str], source: str, on_bad: BadLine | None) -> Iterator[Document]:
    for first, own, following in _parts(lines, source):
        with reporting(on_bad, first):
            document = _document(first, own, following, source)
            if document is not None:
                yield document


def _parts(lines: Iterable[str], source: str) -> Iterator[tuple[int, list[str], int | None]]:
    """Of each document the number of its first line, its lines, and where the next one begins; None: nowhere.

    Lines between documents belong to the one before them, those before the first to the first. A line there that isn't
    text may be the one that begins a document, so it begins a part with what follows it.
    """
    first, part, has_begun, is_inside = 1, list[str](), False, False
    for number, line in enumerate(lines, start=1):
        if line.startswith(BEGIN) or (line == UNDECODABLE and not is_inside):
            if has_begun:
                yield first, part, number
                first, part = number, []
            has_begun = is_inside = True
        elif not is_inside and line.strip() and not line.startswith("#"):
            raise TextError(
                f"{source}:{number}: is outside a document. Put '{BEGIN} (NAME); part 000' before the first row of "
                f"each document and '{END}' after the last."
            )
        elif line.startswith(END):
            is_inside = False
        part.append(line)
    if has_begun:
        yield first, part, None


def _document(first: int, lines: Sequence[str], following: int | None, source: str) -> Document | None:
    """The document of a part; None if a line isn't text, which was reported before. TextError for an error in it."""
    key, begun, has_ended, num_columns = ("", ""), first, False, 0
    rows: list[int] = []
    sentences: list[list[str]] = [[]]
    speakers: list[str] = []
    mentions = OpenMentions()
    for number, line in enumerate(lines, start=first):
        where = f"{source}:{number}"
        if line == UNDECODABLE:
            return None
        if line.startswith(BEGIN):
            key, begun, has_ended = _key(line, where), number, False
        elif line.startswith(END):
            has_ended = True
        elif not line.strip(" \t"):
            sentences.append([])
        elif not line.startswith("#"):
            columns = _columns(line, where, num_columns if sentences[-1] else None)
            num_columns = len(columns)
            mentions.read(columns[-1], len(rows), where)
            rows.append(number - first)
            sentences[-1].append(_PLAIN_WORDS.get(columns[_WORD], columns[_WORD]))
            # LitBank has "_" there: no speaker.
            has_speaker = num_columns >= _COLUMNS_WITH_SPEAKER and columns[_SPEAKER] != "_"
            speakers.append(columns[_SPEAKER] if has_speaker else NO_SPEAKER)
    if not has_ended:
        what = "the file ends" if following is None else f"another one begins in line {following}"
        raise TextError(
            f"{source}:{begun}: the document {key[0]!r} has no '{END}': {what}. Check that the file is whole."
        )
    if (unclosed := mentions.unclosed()) is not None:
        name, token = unclosed
        raise TextError(
            f"{source}:{first + rows[token]}: opens a mention of cluster {name} that is not closed in its document, "
            f"which ends in line {first + rows[-1]}. Close it with '{name})' in the row of its last word."
        )
    return Document(
        key,
        tuple(tuple(as_trained(sentence)) for sentence in sentences if sentence),
        tuple(speakers),
        tuple(tuple(sorted(own)) for own in mentions.clusters.values()),
        tuple(mentions.clusters),
        f"{source}:{begun}",
        SourceLines(tuple(lines), tuple(rows)),
    )


def _key(line: str, where: str) -> tuple[str, str]:
    """Name and part, in the line that begins a document."""
    match = _PART_OF_DOCUMENT.search(line)
    given = line[len(BEGIN) : match.start() if match else None]
    name = given.strip().removeprefix("(").removesuffix(")")
    if not given[:1].isspace() or not name:
        raise TextError(f"{where}: begins a document without a name. Write it like '{BEGIN} (NAME); part 000'.")
    return name, match[1] if match else ""


def _columns(line: str, where: str, num_before: int | None) -> list[str]:
    """Of a token's row. `num_before`: how many the row before it has in its sentence; None: it is the first."""
    columns = cells_of_row(line, at_tabs="\t" in line)
    if len(columns) < _MIN_COLUMNS:
        what = f"has {len(columns)} columns, but a row has a document, a part, a number, a word and more"
    elif len(columns) != (num_before or len(columns)):
        what = f"has {len(columns)} columns, but the row before, of the same sentence, has {num_before}"
    elif not columns[_WORD].strip(" "):
        what = f"column {_WORD + 1}, the word, is empty"
    else:
        return columns
    raise TextError(f"{where}: {what}. Fix the row; a sentence ends with a blank line.")


def _with_last_column(line: str, cell: str) -> str:
    after_tab = line.rfind("\t") + 1
    old = "".join(line[after_tab:].split()[-1:])  # behind a tab it may be empty
    start = line.rfind(old, after_tab)
    return line if say_the_same(old, cell) else f"{line[:start]}{cell}{line[start + len(old) :]}"


def _new_lines(document: Document, cells: Sequence[str]) -> Iterator[str]:
    name, part = document.key
    yield f"{BEGIN} ({name}); part {part or '000'}"
    number = 0
    speakers = document.speakers or (NO_SPEAKER,) * document.num_tokens
    for sentence in document.sentences:
        for place, word in enumerate(sentence):
            columns = (name, part or "0", str(place), word, *"-*---", speakers[number], "*", cells[number])
            yield "\t".join(columns)
            number += 1
        yield ""
    yield END
