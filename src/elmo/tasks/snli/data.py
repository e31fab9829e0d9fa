"""Pairs of sentences: SNLI's JSON lines, its tables with a header, or plain tab-separated columns.

    JSON lines   gold_label, sentence1, sentence2; optional: pairID, sentence1_binary_parse, sentence2_binary_parse
    table        the same fields, named in a header (snli_1.0_*.txt)
    columns      label, premise, hypothesis; without labels: premise, hypothesis

Lines whose label is "-" (the annotators had no majority) are left out. Where there is a binary parse, its leaves are
the tokens; all other sentences are tokenized.
"""

import json
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.labels.labelled_lines import labelled_lines, nothing_in
from elmo.text.files.text_file import text_name
from elmo.text.token_form import has_surrogate

Tokenize = Callable[[str], list[str]]
OnBadLine = Callable[[int, str], None]

UNDECIDED = "-"
"""The label of a pair for which the annotators had no majority."""

_LABEL, _ID = "gold_label", "pairID"
_SIDES = ("sentence1", "sentence2")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True)
class SentencePair:
    """A premise, a hypothesis, and what the first says of the second."""

    premise: list[str]
    hypothesis: list[str]
    label: str = ""
    """Empty: unknown."""
    id: str = ""
    """The file's own; where it has none, the number of the line."""
    source: str = ""
    """The file's name."""
    line: int = 0
    """In the file, from 1."""


def read_pairs(path: Path | str, tokenize: Tokenize, encoding: str = "utf-8") -> list[SentencePair]:
    """The labelled pairs of a file, without undecided ones.

    Raises TextError with file and line for lines that aren't JSON objects, and for missing or empty fields.
    """
    pairs = list(_read(labelled_lines(path, encoding), text_name(path), tokenize, labelled=True))
    if not pairs:
        raise nothing_in(path, "labelled pair")
    decided = [pair for pair in pairs if pair.label != UNDECIDED]
    if not decided:
        raise TextError(
            f"{text_name(path)}: all of its {len(pairs):,} pairs have the label {UNDECIDED!r}, on which the annotators "
            "had no majority, so none is left. Check the file."
        )
    return decided


def read_unlabelled_pairs(
    path: Path | str, tokenize: Tokenize, encoding: str = "utf-8", on_bad_line: OnBadLine | None = None
) -> Iterator[SentencePair]:
    """The pairs of a file in constant memory; labels aren't read.

    `on_bad_line`: called with the number and message of a line that is wrong, which is then left out. Without it,
    raises as `read_pairs`, and for a sentence without a token.
    """
    return _read(labelled_lines(path, encoding), text_name(path), tokenize, labelled=False, on_bad_line=on_bad_line)


def _read(
    lines: Iterable[str], name: str, tokenize: Tokenize, *, labelled: bool, on_bad_line: OnBadLine | None = None
) -> Iterator[SentencePair]:
    header: list[str] | None = None
    form: Literal["", "json", "columns"] = ""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if not form:
            form = "json" if line.lstrip().startswith("{") else "columns"
            if form == "columns" and set(_SIDES) <= set(line.split("\t")):
                header = line.split("\t")
                continue
        where = f"{name}:{number}"
        try:
            fields = _json_fields(line, where) if form == "json" else _column_fields(line, header, where, labelled)
            pair = _pair(fields, tokenize, labelled, name, number)
        except TextError as error:
            if on_bad_line is None:
                raise
            on_bad_line(number, str(error))
        else:
            yield pair


def _json_fields(line: str, where: str) -> Mapping[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TextError(
            f"{where}: not valid JSON ({error}). Every line must be one JSON object; fix the line."
        ) from None
    if not isinstance(fields, dict):
        raise TextError(f"{where}: not a JSON object. Every line must be like {_EXAMPLE}; fix the line.")
    return fields


def _column_fields(line: str, header: list[str] | None, where: str, labelled: bool) -> Mapping[str, object]:
    columns = line.split("\t")
    names = header or [_LABEL, *_SIDES] if labelled or len(columns) != len(_SIDES) else list(_SIDES)
    if len(columns) != len(names):
        expected = f"the header has {len(names)}" if header else f"{' TAB '.join(names)} is expected"
        raise TextError(
            f"{where}: has {len(columns)} tab-separated column{'s' if len(columns) > 1 else ''}, but {expected}. Fix "
            "the line."
        )
    return dict(zip(names, columns, strict=True))


_EXAMPLE = '{"gold_label": "neutral", "sentence1": "...", "sentence2": "..."}'


def _pair(fields: Mapping[str, object], tokenize: Tokenize, labelled: bool, name: str, line: int) -> SentencePair:
    where = f"{name}:{line}"
    label = _text(fields, _LABEL, where).strip() if labelled else ""
    if labelled and not label:
        raise TextError(f"{where}: {_LABEL} is empty. Give the pair its label, or '-' to leave it out.")
    premise, hypothesis = (_tokens(fields, side, tokenize, where) for side in _SIDES)
    if not labelled and not (premise and hypothesis):
        raise TextError(
            f"{where}: the {'hypothesis' if premise else 'premise'} is empty or has no token, so there is nothing to "
            "compare. Fix the line."
        )
    _require_one_line(label, _LABEL, where)
    return SentencePair(premise, hypothesis, label, _id(fields, where, line), name, line)


def _id(fields: Mapping[str, object], where: str, line: int) -> str:
    """The pair's name, which predictions are matched by; without one, the number of its line."""
    own = fields.get(_ID)
    if own is None or own == "":
        return str(line)
    name = str(own) if type(own) is int else _text(fields, _ID, where)
    _require_one_line(name, _ID, where)
    if "\t" in name:
        raise TextError(
            f"{where}: the {_ID} {reprlib.repr(name)} has a tab in it, but in predictions a tab follows it. Give the "
            "pair another one."
        )
    return name


def _require_one_line(value: str, field: str, where: str) -> None:
    if "\n" in value or "\r" in value:
        raise TextError(
            f"{where}: the field {field!r} is {reprlib.repr(value)}, which has a line end in it, but a prediction is "
            "one line. Fix the line."
        )


def _tokens(fields: Mapping[str, object], side: str, tokenize: Tokenize, where: str) -> list[str]:
    parse = f"{side}_binary_parse"
    if fields.get(parse):
        leaves = _text(fields, parse, where).split()
        return [_BRACKETS.get(leaf, leaf) for leaf in leaves if leaf not in ("(", ")")]
    return tokenize(_text(fields, side, where))


def _text(fields: Mapping[str, object], field: str, where: str) -> str:
    if field not in fields:
        raise TextError(
            f"{where}: there is no field {field!r}, its fields are {', '.join(map(repr, fields)) or 'none'}. Every "
            f"line must be like {_EXAMPLE}; fix the line."
        )
    value = fields[field]
    if not isinstance(value, str) or has_surrogate(value):
        why = (
            "has one half of a surrogate pair, which is not a character" if isinstance(value, str) else "must be a text"
        )
        raise TextError(f"{where}: the field {field!r} is {reprlib.repr(value)}, but {why}. Fix the line.")
    return value
