"""Annotation: what shows in a file's first lines that more than words stands in each of them.

Trees in brackets, tags at the words, subtitles, vectors, ids of a vocabulary, parallel texts, labels of fastText.
"""

import re
from collections.abc import Sequence

_TIME = re.compile(r"(?:\d+:)?\d\d:\d\d[.,]\d+ --> ")
_TREE = re.compile(r"\(\s*(?:\(\s*)?[A-Z\d][A-Z\d-]*\s+\(")
_LEAF = re.compile(r"\([^\s()]+ [^\s()]+\)\s*\)")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?::[-+\d.eE]+)?")
_TAG = re.compile(r"[A-Z][A-Z0-9$+:-]*|[^\w\s]+")
_LINES_LOOKED_AT = 50
# Few words may look so by chance.
_FEWEST_WORDS = 6
_FEWEST_NUMBERS = 4


def annotation_in(filled: Sequence[str]) -> tuple[str, str] | None:
    """What lines that aren't blank hold beside words, and how to get at the words; None: nothing shows."""
    lines = [line.strip() for line in filled[:_LINES_LOOKED_AT]]
    rows = [line.split() for line in lines]
    shown = f"({lines[0][:40]!r})"
    if any(map(_TIME.match, lines[:9])):
        return "subtitles", "Write their text alone into a file"
    if _TREE.match(start := " ".join(lines[:5])) and _LEAF.search(start):
        return f"trees in brackets {shown}", "Write their words alone, a sentence per line"
    if lines[0].startswith("\\documentclass"):
        return "LaTeX", "Extract its text first: detex FILE, or pandoc -t plain FILE"
    if all(line.startswith("__label__") for line in lines):
        return (
            f"labels and texts of fastText {shown}",
            "Cut the labels off: sed -E 's/^(__label__[^ ]+ +)+//' OLD > NEW",
        )
    if all(line.startswith("['") and line.endswith("']") for line in lines):
        return f"lists of Python {shown}", 'Write the lists with json.dumps, an object {"text": [...]} per line'
    if len(lines) > 1 and all(line.count(" ||| ") == 1 for line in lines):
        return f"parallel texts {shown}", "Write one side alone: sed 's/ ||| .*//' OLD > NEW"
    if _are_vectors(rows) or _are_ids(rows):
        return f"numbers {shown}", "Name the text that they were made from; vectors are read by --static"
    words = [word for row in rows for word in row]
    for mark in "/_|" if len(words) >= _FEWEST_WORDS else "":
        parts = [word.rsplit(mark, 1) for word in words]
        if all(len(it) == 2 and all(it) and (mark == "|" or _TAG.fullmatch(it[1])) for it in parts):
            return f"words with tags {shown}", f"Cut the tags off: sed -E 's#[{mark}][^ {mark}]+( |$)#\\1#g' OLD > NEW"
    return None


def _are_vectors(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each line, but for a header, has a word, and numbers behind it."""
    body = rows[1:] if len(rows[0]) == 2 else rows
    return len(body) > 1 and all(
        len(row) > _FEWEST_NUMBERS - 1 and all(map(_NUMBER.fullmatch, row[1:])) for row in body
    )


def _are_ids(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all words are whole numbers, several in most lines."""
    words = [word for row in rows for word in row]
    return len(rows) > 1 and len(words) >= max(_FEWEST_WORDS, 2 * len(rows)) and all(word.isdecimal() for word in words)
