"""Pairs of sentences: SNLI's JSON lines, its tables with a header, or plain tab-separated columns.

    JSON lines   gold_label, sentence1, sentence2; optional: pairID, sentence1_binary_parse, sentence2_binary_parse
    JSON array   of the same objects, as KLUE has them; label, premise, hypothesis and guid also name the fields
    table        the same fields, named in a header (snli_1.0_*.txt)
    columns      label, premise, hypothesis; without labels: premise, hypothesis. The label may be in another column
                 (SciTail: premise, hypothesis, label)

Pairs whose label is "-", or -1 where labels are numbers as in Hugging Face's copies, are left out: the annotators had
no majority. Where there is a binary parse, its leaves are the tokens; all other sentences are tokenized.
"""

import json
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.labelled_lines import labelled_lines, nothing_in, reporting, skipping
from elmo.tasks.labels import require_label_column
from elmo.tasks.snli.settings import EntailmentSettings
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.json_array import array_elements
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.reading.settings import AUTO
from elmo.text.tokenizer import tokenizer
from elmo.text.word_list import has_surrogate

Tokenize = Callable[[str], list[str]]

_UNDECIDED = ("-", "-1")
"""The label of a pair for which the annotators had no majority."""

_LABEL, _ID = "gold_label", "pairID"
_SIDES = ("sentence1", "sentence2")
# What other data sets call these fields.
_OTHER_NAMES = {"label": _LABEL, "premise": "sentence1", "hypothesis": "sentence2", "guid": _ID}
_BEGINS_ARRAY = re.compile(r"\s*\[\s*(\{|$)")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True)
class SentencePair:
    """A premise, a hypothesis, and how they relate."""

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


def read_pairs(path: Path | str, settings: EntailmentSettings) -> list[SentencePair]:
    """The labelled pairs of a file, without undecided ones. A sentence may be empty.

    Raises TextError with file and line for lines that aren't JSON objects, for missing fields and empty labels; with
    `errors="skip"` such pairs are left out, and a TextWarning counts them. TextError also for a column of labels that
    looks like one of texts.
    """
    name, tokenize = text_name(path), tokenizer(settings.text_tokenizer)
    with skipping(path, settings.errors) as on_bad:
        lines = list(labelled_lines(path, settings.encoding, on_bad))
        _require_labels(lines, name, settings.label_column)
        pairs = list(_read(lines, name, tokenize, settings.label_column, on_bad, labelled=True))
    if not pairs:
        raise nothing_in(path, "labelled pair")
    decided = [pair for pair in pairs if pair.label not in _UNDECIDED]
    if not decided:
        raise TextError(
            f"{name}: all of its {len(pairs):,} pairs have the label {pairs[0].label!r}, on which the "
            "annotators had no majority, so none is left. Check the file."
        )
    return decided


def read_unlabelled_pairs(
    path: Path | str, settings: EntailmentSettings, reading: TextReading
) -> Iterator[SentencePair]:
    """The pairs of a file, in constant memory; labels aren't read. Raises as `read_pairs`, and for a sentence without
    a token."""
    # Raw or not: the tokenizer of the training data leaves tokens as they are, and --tokenizer asks for another.
    tokenize = tokenizer(settings.text_tokenizer) if reading.tokenizer == AUTO else reading.tokenize
    lines = labelled_lines(path, reading.encoding, reading.on_bad)
    return _read(lines, text_name(path), tokenize, settings.label_column, reading.on_bad, labelled=False)


def _read(
    lines: Iterable[str],
    name: str,
    tokenize: Tokenize,
    label_column: int,
    on_bad: BadLine | None,
    *,
    labelled: bool,
) -> Iterator[SentencePair]:
    header: list[str] | None = None
    form: Literal["", "json", "columns"] = ""
    for number, line in _records(lines, name):
        if not line.strip() or line == UNDECODABLE:
            continue
        if not form:
            form = "json" if line.lstrip().startswith("{") else "columns"
            names = _known_names(line.split("\t"))
            if form == "columns" and set(_SIDES) <= set(names):
                header = names
                continue
        where = f"{name}:{number}"
        with reporting(on_bad, number):
            if form == "json":
                fields = _json_fields(line, where)
            else:
                fields = _column_fields(line, header or _names_of(line, labelled, label_column), where, bool(header))
            yield _pair(fields, tokenize, labelled, name, number)


def _records(lines: Iterable[str], name: str) -> Iterator[tuple[int, str]]:
    """Each line with its number; of a JSON array each element, likewise, as a line."""
    numbered = enumerate(lines, start=1)
    for number, line in numbered:
        if _BEGINS_ARRAY.match(line):
            array = array_elements(chain([line], (other for _, other in numbered)), name, number)
            yield from ((begun, json.dumps(element)) for begun, element in array)
        else:
            yield number, line
            if line.strip():
                break
    yield from numbered


def _known_names(names: Iterable[str]) -> list[str]:
    return [_OTHER_NAMES.get(name, name) for name in names]


def _json_fields(line: str, where: str) -> Mapping[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TextError(
            f"{where}: not valid JSON ({error}). Every line must be one JSON object; fix the line."
        ) from None
    if not isinstance(fields, dict):
        raise TextError(f"{where}: not a JSON object. Every line must be like {_EXAMPLE}; fix the line.")
    # A field's own name counts more than another one for it.
    return dict(zip(_known_names(fields), fields.values(), strict=True)) | fields


def _names_of(line: str, labelled: bool, label_column: int) -> list[str]:
    if not labelled and line.count("\t") == 1:
        return list(_SIDES)
    names: list[str] = [*_SIDES]
    names.insert(label_column - 1, _LABEL)
    return names


def _column_fields(line: str, names: list[str], where: str, has_header: bool) -> Mapping[str, object]:
    columns = line.split("\t")
    if len(columns) != len(names):
        expected = f"the header has {len(names)}" if has_header else f"{' TAB '.join(names)} is expected"
        raise TextError(
            f"{where}: has {len(columns)} tab-separated column{'s' if len(columns) > 1 else ''}, but {expected}. Fix "
            "the line."
        )
    return dict(zip(names, columns, strict=True))


def _require_labels(lines: Sequence[str], name: str, label_column: int) -> None:
    """TextError if the label column looks like premises, and another column like labels."""
    rows = [line.split("\t") for line in lines if line.count("\t") == len(_SIDES)]
    if not rows or set(_SIDES) <= set(_known_names(rows[0])):
        return
    step = "The order is label, premise, hypothesis; --label-column {} reads the label from there."
    require_label_column(rows, label_column - 1, name, step.format)


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
    name = _text(fields, _ID, where)
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
        return as_trained([_BRACKETS.get(leaf, leaf) for leaf in leaves if leaf not in ("(", ")")])
    return tokenize(composed(_text(fields, side, where))[0])


def _text(fields: Mapping[str, object], field: str, where: str) -> str:
    if field not in fields:
        raise TextError(
            f"{where}: there is no field {field!r}, its fields are {', '.join(map(repr, fields)) or 'none'}. Every "
            f"line must be like {_EXAMPLE}; fix the line."
        )
    value = fields[field]
    if type(value) is int and field in (_LABEL, _ID):
        return str(value)
    if not isinstance(value, str) or has_surrogate(value):
        why = (
            "has one half of a surrogate pair, which is not a character" if isinstance(value, str) else "must be a text"
        )
        raise TextError(f"{where}: the field {field!r} {why} (got {reprlib.repr(value)}). Fix the line.")
    return value
