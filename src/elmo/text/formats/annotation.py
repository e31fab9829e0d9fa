"""Annotation: what shows in a file's first lines that they hold more than words: trees, tags, times, ids, vectors ...

Each sign needs what hardly any sentences have, and most or all of the lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from elmo.text.files.text_file import Format
from elmo.text.formats.columns import SPAN_TAG
from elmo.text.formats.known_forms import known_form


@dataclass(frozen=True)
class Sign:
    """What the lines look like."""

    what: str
    """For the message: "looks like ..." """
    step: str
    """How to read the file as that."""
    format: Format | None = None
    """Which format can be read without asking; None: not sure."""


_LINES_LOOKED_AT = 50
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?::[-+\d.eE]+)?")
_ID = re.compile(r"\d+(?:-\d+)?")
_TAG = re.compile(r"[A-Z][A-Z0-9$+:|-]*|[^\w\s]+")
# Of Brown ("nn-tl", "''", "wdt+bez"), of Peking ("n]nt" ends a name of several words) and of KAIST.
_SMALL_TAG = re.compile(r"[a-z][a-z0-9]?[a-z0-9$*+-]{0,9}(?:\][a-z]+)?|[^\w\s]+(?:-[a-z]+)*")
_MORPHEMES = re.compile(r"/[A-Za-z]+\+[^\s/]+/")
_DIGITS = re.compile(r"\d+")
_LABEL = re.compile(r"[-+]?\d|[A-Z]{2,}:\w+")
# Few words and lines may look so by chance.
_FEWEST_WORDS = 6
_FEWEST_NUMBERS = 4
_FEWEST_LINES = 5
_FEWEST_LABELS = 20
_NEARLY_ALL = 0.9
_PLACES_OF_TIMES = 4
_MOST_CUT = 8
_DIGITS_OF_IDS = 5


def sign_of_annotation(filled: Sequence[str]) -> Sign | None:
    """What else than words stands in lines that aren't blank: trees, tags, subtitles, vectors, labels ..."""
    lines = [line.strip() for line in filled[:_LINES_LOOKED_AT]]
    rows = [line.split() for line in lines]
    shown = f"({lines[0][:40]!r})"
    if known := known_form(lines):
        return Sign(f"{known[0]} {shown}", known[1])
    if len(lines) > 1 and len(counts := {line.count(" ||| ") for line in lines}) == 1 and counts != {0}:
        return Sign(f"parallel texts {shown}", "Write one side alone: sed 's/ ||| .*//' OLD > NEW")
    if _are_vectors(rows) or _are_ids(rows):
        return Sign(f"numbers {shown}", "Name the text that they were made from; vectors are read by --static")
    return _tags(rows, shown)


def sign_of_first_words(filled: Sequence[str]) -> Sign | None:
    """Ids, times, numbers or labels before the words of each line, of lines that aren't blank and aren't columns."""
    rows = [row for line in filled[:_LINES_LOOKED_AT] if len(row := line.split()) > 1]
    if len(rows) < max(_FEWEST_LINES, _NEARLY_ALL * min(len(filled), _LINES_LOOKED_AT)):
        return None
    firsts = [row[0] for row in rows]
    what = place = None
    if len(rows) >= _FEWEST_LABELS and all(map(_LABEL.fullmatch, firsts)) and 2 * len(set(firsts)) <= len(rows):
        what, place = "a label before each text", 0
    elif len(rows) >= _FEWEST_LABELS and _count_on(firsts):
        what, place = "a number before each line", 0
    else:
        places = range(_PLACES_OF_TIMES)
        place = next((at for at in places if _are_marks([row[at] for row in rows if len(row) > at], len(rows))), None)
        what = "an id or a time in each line"
    if place is None:
        return None
    while place + 1 < _MOST_CUT and _are_alike([row[place + 1] for row in rows if len(row) > place + 1], len(rows)):
        place += 1  # "04:47:44 2005]"
    shown = " ".join(rows[0][: place + 1])
    return Sign(f"{what} ({shown[:40]!r})", f"Cut it off: cut -d' ' -f{place + 2}- OLD > NEW")


def _are_alike(words: Sequence[str], num_rows: int) -> list[str]:
    """Those that are equal but for their digits, if nearly all are and have some."""
    shapes = [_DIGITS.sub("0", word) for word in words]
    shape = max(shapes, key=shapes.count) if shapes else ""
    if "0" not in shape or shapes.count(shape) < _NEARLY_ALL * num_rows:
        return []
    return [word for word, own in zip(words, shapes, strict=True) if own == shape]


def _are_marks(words: Sequence[str], num_rows: int) -> bool:
    """Whether nearly all are ids or times: equal but for their digits, of which they have several groups or many."""
    if not (found := _are_alike(words, num_rows)):
        return False
    shape = _DIGITS.sub("0", found[0])
    digits = min(sum(map(str.isdecimal, word)) for word in found)
    # Not "1978년", with which lines of a chronicle begin.
    begins = next((character for character in shape if character.isalnum()), "")
    is_named = digits > 2 and begins.isalpha() and len(set(found)) == len(found)
    return len(set(found)) > 1 and (shape.count("0") > 1 or digits >= _DIGITS_OF_IDS or is_named)


def _count_on(words: Sequence[str]) -> bool:
    """Whether the words are numbers, each one more than the one before or a new beginning."""
    if not all(map(str.isdecimal, words)):
        return False
    numbers = [int(word[:9]) for word in words]
    return numbers[0] < 2 and all(after == before + 1 or after < 2 for before, after in pairwise(numbers))


def _are_vectors(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each line, but for a header, has a word, and numbers behind it."""
    body = rows[1:] if len(rows[0]) <= 2 else rows
    return len(body) > 1 and all(
        len(row) > _FEWEST_NUMBERS - 1 and all(map(_NUMBER.fullmatch, row[1:])) for row in body
    )


def _are_ids(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all words are whole numbers or pairs of them, several in most lines."""
    words = [word for row in rows for word in row]
    return len(rows) > 1 and len(words) >= max(_FEWEST_WORDS, 2 * len(rows)) and all(map(_ID.fullmatch, words))


def _tags(rows: Sequence[Sequence[str]], shown: str) -> Sign | None:
    """Words with tags behind a mark, or tags alone. "[ the/DT rain/NN ]" and "====" are of the Penn Treebank."""
    words = [word for row in rows for word in row if word not in "[]+" and set(word) != {"="}]
    if len(words) < _FEWEST_WORDS:
        return None
    if all(map(SPAN_TAG.fullmatch, words)):
        return Sign(f"tags {shown}", "Name the file with their words")
    for mark in "/_|":
        parts = [word.rsplit(mark, 1) for word in words]
        tags = [it[1] for it in parts if len(it) == 2 and all(it)]
        small = [tag for tag in tags if _SMALL_TAG.fullmatch(tag)] if mark == "/" else []
        # A small one is of several words, as the name of a file is not.
        num_small = len(small) if 2 * len(set(small)) <= len(small) else 0
        num_large = sum(mark == "|" or _TAG.fullmatch(tag) is not None for tag in tags)
        if max(num_small, num_large) < _NEARLY_ALL * len(words):
            continue
        if mark == "/" and any("+" in row for row in rows) or any(map(_MORPHEMES.search, words)):
            return Sign(f"morphemes with tags {shown}", "Name the text that they were made from")
        cut = rf"s#[{mark}][^ ]+( |$)#\1#g" if mark == "|" else rf"s#[{mark}][^ {mark}]+( |$)#\1#g"
        if any("[" in word or "]" in word for row in rows for word in row):
            cut += "; s#(^| )[][]#\\1#g; /^=+ *$/d"
        step = f"Cut the tags off: sed -E '{cut}' OLD > NEW"
        if any(row[0] == "[" and row[-1] == "]" for row in rows):  # a phrase per line
            step += ", and use --sentences across-lines"
        return Sign(f"words with tags {shown}", step)
    return None
