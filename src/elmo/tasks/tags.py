"""Tag schemes: entities as one tag a token, and back.

IOB1    I-X inside; B-X only where an entity of type X directly follows another of the same type
IOB2    B-X at each beginning ("BIO")
IOE1    I-X inside; E-X only at an end directly before another of the same type
IOE2    E-X at each end
BIOUL   B-X begins, L-X ends, U-X is a single token. IOBES writes E and S for L and U; BMES also M for I; BMEWO M and W
IO      X inside, without prefix: neighbors of one type are one entity

Files also write B_X, X-B or X_B for B-X, and "-" for O: see `notation_of`.

A span is (start, end, label), the end exclusive. Spans are found by the rules of conlleval (CoNLL-2003's scorer), which
read all schemes: where an entity could begin, it does. U, L and S, which that script doesn't know, mean what they say.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Span = tuple[int, int, str]
Scheme = Literal["iob1", "iob2", "bioul"]
SchemeFound = Literal["iob1", "iob2", "ioe", "bioul"]

OUTSIDE = "O"

_BEGINS = frozenset("BUS")
_ENDS = frozenset("ELUS")
PREFIXES = frozenset("BIELUS")

_PREFIXED = re.compile(r"(?P<prefix>[BIELUSMW])[-_](?P<label>.+)")
_SUFFIXED = re.compile(r"(?P<label>.+)[-_](?P<prefix>[BIELUSMW])")
# Neither a prefix alone nor something like X-PER, which are mistakes.
_BARE = re.compile(r"(?P<label>(?!.[-_])[^\W\d_]\S+)")
_OTHER_PREFIXES = {"M": "I", "W": "U"}
# At least this share of the tags other than O is in the file's notation; the others are reported with their line.
_LEAST_SHARE = 0.9


@dataclass(frozen=True)
class Notation:
    """How a file writes tags."""

    form: re.Pattern[str] = _PREFIXED
    outside: str = OUTSIDE
    example: str = "B-PER"

    def plain(self, tag: str) -> str | None:
        """The tag as "O" or like "B-PER"; None if it isn't of this notation."""
        if tag == self.outside:
            return OUTSIDE
        match = self.form.fullmatch(tag)
        if match is None:
            return None
        prefix = match.groupdict().get("prefix", "I")
        return f"{_OTHER_PREFIXES.get(prefix, prefix)}-{match['label']}"


IO = Notation(_BARE, example="PER")


def notation_of(tags: Iterable[str]) -> Notation:
    """How all of a file's tags are written; prefixed if nothing says otherwise.

    Labels without prefix or suffix are tags only if at least half of all tokens are "O", as with entities, and not with
    parts of speech.
    """
    counts = Counter(tags)
    outside = OUTSIDE if OUTSIDE in counts or "-" not in counts else "-"
    inside = Counter({tag: count for tag, count in counts.items() if tag != outside})
    for form in (_PREFIXED, _SUFFIXED):
        found = [match for match in map(form.fullmatch, inside) if match]
        if found and sum(inside[match.string] for match in found) >= _LEAST_SHARE * inside.total():
            return Notation(form, outside, found[0].string)
    has_parts = any(_PREFIXED.fullmatch(tag) or _SUFFIXED.fullmatch(tag) for tag in inside)
    is_bare = not has_parts and all(map(_BARE.fullmatch, inside))
    if outside == OUTSIDE and is_bare and 2 * counts[OUTSIDE] >= counts.total():
        return IO
    return Notation(outside=outside)


def split_tag(tag: str) -> tuple[str, str]:
    """(prefix, label): "B-creative-work" -> ("B", "creative-work")."""
    prefix, _, label = tag.partition("-")
    return prefix, label


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The entities of a sentence's tags, in any scheme."""
    spans: list[Span] = []
    start, before, label_before = 0, OUTSIDE, ""
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, label = split_tag(tag)
        is_new = before == OUTSIDE or label != label_before or prefix in _BEGINS or before in _ENDS
        if before != OUTSIDE and (prefix == OUTSIDE or is_new):
            spans.append((start, place, label_before))
        if prefix != OUTSIDE and is_new:
            start = place
        before, label_before = prefix, label
    return spans


def tags_of(spans: Iterable[Span], length: int, scheme: Scheme) -> list[str]:
    """The tags of a sentence of `length` tokens whose entities, in order and without overlap, are `spans`."""
    tags = [OUTSIDE] * length
    last: Span | None = None
    for span in spans:
        start, end, label = span
        prefixes = ["I"] * (end - start)
        adjacent = last is not None and last[1:] == (start, label)
        if scheme != "iob1" or adjacent:
            prefixes[0] = "B"
        if scheme == "bioul":
            prefixes[-1] = "L" if len(prefixes) > 1 else "U"
        tags[start:end] = [f"{prefix}-{label}" for prefix in prefixes]
        last = span
    return tags


def scheme_of(sentences: Iterable[Sequence[str]]) -> SchemeFound:
    """The scheme that all of a file's tags are in; IOB2 if nothing says otherwise."""
    prefixes: set[str] = set()
    opened_by_i = b_is_redundant = False
    for tags in sentences:
        before, label_before = OUTSIDE, ""
        for tag in tags:
            prefix, label = split_tag(tag)
            same = before != OUTSIDE and label == label_before
            opened_by_i |= prefix == "I" and not same
            b_is_redundant |= prefix == "B" and not same  # IOB1 has no need of such a B
            prefixes.add(prefix)
            before, label_before = prefix, label
    if prefixes & set("LUS"):
        return "bioul"
    if "E" in prefixes:
        return "bioul" if "B" in prefixes else "ioe"
    return "iob1" if opened_by_i and not b_is_redundant else "iob2"


def follows(before: str, tag: str, scheme: SchemeFound) -> bool:
    """Whether `tag` may come after `before`; both may be "O", which also marks the beginning and end of a sentence."""
    prefix_before, label_before = split_tag(before)
    prefix, label = split_tag(tag)
    same = prefix_before != OUTSIDE and prefix != OUTSIDE and label == label_before
    if scheme == "iob2":
        return prefix != "I" or same
    if scheme == "iob1":
        return prefix != "B" or same
    if scheme == "ioe":
        return True
    is_open = prefix_before in ("B", "I")
    continues = prefix in ("I", "L", "E")
    return is_open == continues and (same or not continues)


def moves(tags: Sequence[str], scheme: SchemeFound) -> tuple[list[list[bool]], list[bool], list[bool]]:
    """Whether each tag may follow each other one, may be a sentence's first one, and its last."""
    table = [[follows(before, tag, scheme) for tag in tags] for before in tags]
    return table, [follows(OUTSIDE, tag, scheme) for tag in tags], [follows(tag, OUTSIDE, scheme) for tag in tags]


def all_tags(labels: Sequence[str], scheme: Scheme) -> list[str]:
    """Every tag of a scheme, "O" first."""
    prefixes = "BIUL" if scheme == "bioul" else "BI"
    return [OUTSIDE, *(f"{prefix}-{label}" for label in labels for prefix in prefixes)]
