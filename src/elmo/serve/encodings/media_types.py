"""Which of our media types a client's Accept header prefers (RFC 9110, section 12.5.1)."""

from functools import cache
from importlib.util import find_spec

from elmo.serve.refusals import Refusal

JSON = "application/json"
LINES = "application/x-ndjson"
"""A JSON object in each line, one for each input, sent as soon as its vectors are computed."""
SAFETENSORS = "application/vnd.elmo.safetensors"
ARROW = "application/vnd.apache.arrow.stream"

VECTORS = (JSON, LINES, SAFETENSORS, ARROW)
"""Of answers with vectors; the first is sent to a client that takes anything."""

_LONGEST_HEADER = 1000


def accepted(header: str, offered: tuple[str, ...] = VECTORS) -> str:
    """The media type that an Accept header gives the most weight; the first of `offered` among equals.

    Raises Refusal: 406 if it takes none of them, or Arrow alone where pyarrow is not installed.
    """
    ranges = _ranges(header[:_LONGEST_HEADER])
    weights = {media_type: _weight(media_type, ranges) for media_type in offered}
    if weights.get(ARROW) and not has_pyarrow():
        del weights[ARROW]
    best = max(weights, key=lambda media_type: weights[media_type])  # the first of equal ones
    if weights[best] > 0:
        return best
    raise Refusal(
        406,
        f"Accept is {header[:200]!r}, but this path answers with {', '.join(weights)}. Send one of them, or leave the "
        "header out for JSON.",
        "not_acceptable",
    )


@cache
def has_pyarrow() -> bool:
    """Whether Arrow streams can be written here."""
    return find_spec("pyarrow") is not None


def _ranges(header: str) -> dict[str, float]:
    """Media range -> its weight q."""
    if not header.strip():
        return {"*/*": 1.0}
    found = {}
    for part in header.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = next((value[2:] for value in parameters if value.startswith("q=")), "1")
        found[media_range] = _number(weight)
    return found


def _number(text: str) -> float:
    """q is 0 to 1 with at most three decimals; anything else counts as 0."""
    is_number = text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 5
    return min(1.0, float(text)) if is_number else 0.0


def _weight(media_type: str, ranges: dict[str, float]) -> float:
    """Of the most specific range that covers the type."""
    kind = media_type.partition("/")[0]
    return next((ranges[name] for name in (media_type, f"{kind}/*", "*/*") if name in ranges), 0.0)
