"""JSON lines: each line an object, one field of which is a text or a list of tokens."""

import json
from collections.abc import Iterable, Iterator

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine
from elmo.text.sentence_checks import are_texts
from elmo.text.token_form import has_surrogate, invalid_token_reason

_FIELDS_NAMED = 8
_LONGEST_SHOWN = 60


def jsonl_rows(
    lines: Iterable[str], name: str, field: str, on_bad_line: BadLine | None, first: int = 1
) -> Iterator[str | list[str]]:
    """Of each line what stands in `field`: a text, or a list of tokens; '' for a blank line.

    A line that isn't such an object is a TextError, or, if there is someone to tell, ''. `first`: the number of the
    first line.
    """
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            yield ""
            continue
        row = _content(line, field)
        if isinstance(row, _Wrong):
            message = f"{name}:{number}: {row.what}. {row.step}, or use --errors skip to list and skip such lines."
            if on_bad_line is None:
                raise TextError(message)
            on_bad_line(number, message)
            row = ""
        yield row


class _Wrong:
    """Why a line can't be used, and the next step."""

    def __init__(self, what: str, step: str) -> None:
        self.what = what
        self.step = step


def _content(line: str, field: str) -> str | list[str] | _Wrong:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        return _Wrong(f"not valid JSON ({error.msg} at column {error.colno})", "Each line must be one JSON object")
    except (RecursionError, ValueError):
        # Python reads neither a thousand brackets nor a number of a million digits.
        return _Wrong("JSON that is nested too deeply, or has too long a number", "Each line must be one flat object")
    if not isinstance(values, dict):
        return _Wrong(f"holds {_kind(values)}, not a JSON object", 'Each line must be like {"text": "..."}')
    if field not in values:
        names = ", ".join(map(_short, list(values)[:_FIELDS_NAMED])) or "none"
        return _Wrong(f"there is no field {field!r}, its fields are: {names}", "Name the right one with --field")
    return _checked(values[field], field)


def _checked(value: object, field: str) -> str | list[str] | _Wrong:
    if isinstance(value, str):
        return _Wrong(*_SURROGATE) if has_surrogate(value) else value
    if not isinstance(value, list):
        return _Wrong(f"field {field!r} is {_kind(value)}", "It must be a text or a list of tokens")
    for place, token in enumerate(value, start=1):
        if not isinstance(token, str):
            return _Wrong(f"token {place} in field {field!r} is {_kind(token)}", "All tokens must be strings")
        if why := invalid_token_reason(token) or (None if token else "is empty"):
            return _Wrong(f"token {place} in field {field!r} is {_short(token)}, which {why}", "Fix the list")
    if are_texts(value):
        what = f"field {field!r} is a list of texts, each of which would be read as one token: {_short(value[0])}"
        return _Wrong(what, "Write an object for each text")
    return value


_SURROGATE = ("it escapes one half of a surrogate pair (\\ud800 to \\udfff), which is not a character", "Fix the line")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return kinds.get(type(value), "a number")


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "...")
