"""Tag schemes: entities as one tag a token, and back.

IOB1    I-X inside; B-X only where an entity of type X directly follows another of the same type
IOB2    B-X at each beginning ("BIO")
IOE1    I-X inside; E-X only at an end directly before another of the same type
IOE2    E-X at each end
BIOUL   B-X begins, L-X ends, U-X is a single token (IOBES writes E and S for L and U)

A span is (start, end, label), the end exclusive. Spans are found by the rules of conlleval (CoNLL-2003's scorer), which
read all schemes: where an entity could begin, it does. U, L and S, which that script doesn't know, mean what they say.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

Span = tuple[int, int, str]
Scheme = Literal["iob1", "iob2", "bioul"]
SchemeFound = Literal["iob1", "iob2", "ioe", "bioul"]

OUTSIDE = "O"

_BEGINS = frozenset("BUS")
_ENDS = frozenset("ELUS")
PREFIXES = frozenset("BIELUS")


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
    """Whether `tag` may come after `before`; both may be "O", which also stands for a sentence's beginning and end."""
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


def all_tags(labels: Sequence[str], scheme: Scheme) -> list[str]:
    """Every tag of a scheme, "O" first."""
    prefixes = "BIUL" if scheme == "bioul" else "BI"
    return [OUTSIDE, *(f"{prefix}-{label}" for label in labels for prefix in prefixes)]
