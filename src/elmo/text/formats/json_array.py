"""JSON arrays: `[{"text": ...}, ...]`, `["...", ...]` or `[["a", "b"], ...]` -> JSON lines, an element a line.

An array may lie on one line or on many. The number of a row is that of its element, from 1.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from elmo.errors import TextError
from elmo.text.files.decoding import decoded
from elmo.text.sentence_checks import refuse_flat_list

_SPACES = re.compile(r"\s*")
_ELEMENTS_LOOKED_AT = 512


def is_array(lines: Sequence[str]) -> bool:
    """Whether the first line that isn't blank begins one."""
    return next((line for line in lines if line.strip()), "").lstrip().startswith("[")


def array_as_lines(lines: Iterable[bytes], name: str, encoding: str, field: str) -> Iterator[bytes]:
    """Each element as a line of JSON, in constant memory; a text or a list of tokens as an object with that `field`.

    Raises TextError with file and line for what isn't a JSON array, and for an array of words, which could be one
    tokenized sentence or many texts.
    """
    found = (element for _, element in array_elements(decoded(lines, name, encoding, None), name))
    first = list(islice(found, _ELEMENTS_LOOKED_AT))
    refuse_flat_list(first, f"{name}: the array", TextError)
    for element in chain(first, found):
        yield (json.dumps(element if isinstance(element, dict) else {field: element}) + "\n").encode()


# What may come -> each mark that may, and what may come after it.
_MARKS = {
    "start": {"[": "element or end"},
    "element or end": {"]": "nothing"},
    "comma or end": {",": "element", "]": "nothing"},
    "element": {},
    "nothing": {},
}


def array_elements(lines: Iterable[str], name: str, first: int = 1) -> Iterator[tuple[int, object]]:
    """Each element with the number of the line that it begins in. `first`: the number of the first line. Raises
    TextError with file and line for what isn't a JSON array."""
    text, number, state, enough = "", first, "start", 0
    for line in chain(lines, [None]):
        text += "" if line is None else line + "\n"
        # An element that isn't whole is tried again when it is twice as long: a long one shall cost no square of it.
        if line is not None and len(text) < enough:
            continue
        at = 0
        while (at := _end_of_spaces(text, at)) < len(text):
            if text[at] in _MARKS[state]:
                state, at = _MARKS[state][text[at]], at + 1
                continue
            begun = number + text.count("\n", 0, at)
            if not state.startswith("element"):
                raise _not_an_array(name, begun, f"{text[at]!r} stands where {_DUE[state]} must")
            try:
                element, at = _decode(text, at)
            except json.JSONDecodeError as error:
                if line is None or text[error.pos :].strip():
                    raise _not_an_array(name, number + text[: error.pos].rstrip().count("\n"), error.msg) from None
                enough = 2 * (len(text) - at)
                break
            except (RecursionError, ValueError):
                raise _not_an_array(name, begun, "it is nested too deeply, or has too long a number") from None
            yield begun, element
            state = "comma or end"
        else:
            enough = 0
        number += text.count("\n", 0, at)
        text = text[at:]
    if state != "nothing":
        raise _not_an_array(name, number - 1, "it is cut off")


_decode = json.JSONDecoder().raw_decode
_DUE = {"start": "'['", "comma or end": "',' or ']'", "nothing": "the end of the file"}


def _end_of_spaces(text: str, at: int) -> int:
    match = _SPACES.match(text, at)
    return at if match is None else match.end()


def _not_an_array(name: str, line: int, why: str) -> TextError:
    return TextError(
        f"{name}:{line}: not a valid JSON array ({why}). Fix it, or write one object per line, or use --format text if "
        "it is plain text after all."
    )
