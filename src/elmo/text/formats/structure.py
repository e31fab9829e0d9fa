"""Structure: the format that a file's first lines can't but have. What could be sentences is none."""

import json
import re
from collections.abc import Sequence

from elmo.errors import TextError
from elmo.text.files.text_file import Format
from elmo.text.formats.columns import SPAN_TAG, column_sentences
from elmo.text.formats.json_array import array_elements, is_array
from elmo.text.formats.table import names_separator

_OBJECTS_LOOKED_AT = 20
# A header of FASTA, no quotation in Markdown (">```", ">**Note**", ">>").
_HEADER = re.compile(r">[^\s<>{`*#!\[-]")
# A header and, below it or below comments, capitals, in A3M with small letters among them. Before them a file may
# have lines of the program that wrote it.
_SEQUENCE = re.compile(r"^> ?[^\s>].*\n(?:;.*\n)*[ \t]*[A-Z][A-Z*.~_-]{9}[A-Za-z*.~_-]*[ \t]*$", re.MULTILINE)
# The tags of Universal Dependencies and of the Penn Treebank, with the universal ones of Petrov et al. 2012.
_PART_OF_SPEECH = re.compile(
    r"ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|CONJ|PRT|"
    r"CC|CD|DT|EX|FW|IN|JJ[RS]?|LS|MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|HYPH|NFP|ADD|AFX|"
    r"GW|[.,:#$()]|``|''|-[LR]RB-"
)


def format_of_lines(lines: Sequence[str]) -> Format | None:
    """The format that the first lines of a file show; None: nothing does, as in text."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    if all(map(_is_object, filled[:_OBJECTS_LOOKED_AT])) or _begins_array(filled):
        return "jsonl"
    first = next((line for line in filled if not line.startswith(";")), "")
    if _HEADER.match(first) or _SEQUENCE.search("\n".join(filled)):
        return "fasta"
    if names_separator(filled[0]):
        return "csv"
    if is_conllu(filled):
        return "conllu"
    return "conll" if filled[0].startswith(("-DOCSTART-", "#begin document")) or _are_tagged(lines) else None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _begins_array(filled: Sequence[str]) -> bool:
    """Whether an array begins, which "[1] Rain fell" or "[[Rome]] is old" doesn't."""
    if not is_array(filled):
        return False
    elements = (element for _, element in array_elements(filled, ""))
    try:
        is_of_rows = isinstance(next(elements, None), dict | list)
        return is_of_rows or isinstance(next(elements, None), str)  # two texts
    except TextError:
        return False


def is_conllu(filled: Sequence[str]) -> bool:
    """Whether there are rows of ten columns, the first of which has numbers, or the names of the columns of CoNLL-U
    Plus."""
    if filled[0].startswith("# global.columns"):
        return True
    rows = [line.split("\t") for line in filled if line[0] != "#"]
    return bool(rows) and all(len(row) == 10 and row[0].replace("-", "").replace(".", "").isdecimal() for row in rows)


def _are_tagged(lines: Sequence[str]) -> bool:
    """Whether the lines are columns of one width, one of which has nothing but tags."""
    bad: list[int] = []
    try:
        found = [it.rows for it in column_sentences(lines, "", lambda number, _: bad.append(number)) if it.rows]
    except TextError:  # an object of JSON over several lines
        return False
    rows = [row for sentence in found for row in sentence]
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(bad) > len(found) // 20 or len(widths) > 1 or widths == {1}:
        return False
    columns = list(zip(*rows, strict=True))
    are_outside = len(rows) > 2 and set(columns[-1]) == {"O"}
    return are_outside or any(map(_are_span_tags, columns)) or any(map(_are_parts_of_speech, columns[1:]))


def _are_span_tags(column: Sequence[str]) -> bool:
    return len(set(column)) > 1 and all(map(SPAN_TAG.fullmatch, column))


def _are_parts_of_speech(column: Sequence[str]) -> bool:
    """Whether all are tags and not just marks, in which sentences of equal length may end."""
    return all(map(_PART_OF_SPEECH.fullmatch, column)) and any(len(tag) > 1 and tag[0].isalpha() for tag in column)
