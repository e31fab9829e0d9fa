"""Pairs of sentences: SNLI's JSON lines, its tables with a header, or plain tab-separated columns.

    JSON lines   gold_label, sentence1, sentence2; optional: pairID, sentence1_binary_parse, sentence2_binary_parse
    table        the same fields, named in a header (snli_1.0_*.txt)
    columns      label, premise, hypothesis; without labels: premise, hypothesis

Pairs whose label is "-", or -1 where labels are numbers, are left out: the annotators had no majority. Where there is a
binary parse, its leaves are the tokens; all other sentences are tokenized.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.setting_checks import Chance
from elmo.tasks.json_tree import Node
from elmo.tasks.lines import labelled_lines, nothing_in, records, reporting, skipping
from elmo.tasks.settings import FitSettings, LabelSettings, Size, TaskSettings
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.reading.settings import AUTO
from elmo.text.tokenizer import tokenizer


@dataclass(frozen=True)
class EntailmentSettings(LabelSettings):
    """Data and network of ESIM."""

    text_tokenizer: str = "unicode"
    """How sentences without a parse are split into tokens. unicode: by rules; whitespace: their tokens are separated by
    spaces; or module:function, a function of your own."""
    premises: Literal["read", "hide"] = "read"
    """hide: the network reads only the hypotheses. Its score then shows how much the hypotheses give away about the
    labels."""
    hidden_size: Size = 300
    """Units of both biLSTMs in each direction, and of both linear layers."""
    dropout: Chance = 0.5
    """Dropout on the tokens' vectors, the comparisons and their projections (one mask for all tokens of a sentence),
    and in the classifier."""


@dataclass(frozen=True)
class SnliSettings(TaskSettings):
    """All settings of `elmo task train snli`."""

    fit: FitSettings = field(
        default_factory=lambda: FitSettings(
            epochs=15, patience=4, batch_size=32, learning_rate=0.0004, decay="halve", max_length=100
        )
    )
    entailment: EntailmentSettings = field(default_factory=EntailmentSettings)


Tokenize = Callable[[str], list[str]]

_UNDECIDED = ("-", "-1")
"""The label of a pair for which the annotators had no majority."""

_LABEL, _ID = "gold_label", "pairID"
_SIDES = ("sentence1", "sentence2")
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
    `errors="skip"` such pairs are left out, and a TextWarning counts them.
    """
    name, tokenize = text_name(path), tokenizer(settings.text_tokenizer)
    with skipping(path, settings.errors) as on_bad:
        lines = labelled_lines(path, settings.encoding, on_bad)
        pairs = list(_pairs(lines, name, (_LABEL, *_SIDES), tokenize, on_bad))
    decided = [pair for pair in pairs if pair.label not in _UNDECIDED]
    if not decided:
        raise nothing_in(path, "pair with a label that isn't '-' or -1")
    return decided


def read_unlabelled_pairs(
    path: Path | str, settings: EntailmentSettings, reading: TextReading
) -> Iterator[SentencePair]:
    """The pairs of a file, in constant memory; labels aren't read. Raises as `read_pairs`, and for a sentence without
    a token."""
    # Raw or not: the tokenizer of the training data leaves tokens as they are, and --tokenizer asks for another.
    tokenize = tokenizer(settings.text_tokenizer) if reading.tokenizer == AUTO else reading.tokenize
    lines = iter(labelled_lines(path, reading.encoding, reading.on_bad))
    first = next(lines, "")
    columns = (_LABEL, *_SIDES) if first.count("\t") == len(_SIDES) else _SIDES
    for pair in _pairs(chain([first], lines), text_name(path), columns, tokenize, reading.on_bad, labelled=False):
        with reporting(reading.on_bad, pair.line):
            if not (pair.premise and pair.hypothesis):
                raise TextError(
                    f"{pair.source}:{pair.line}: the {'hypothesis' if pair.premise else 'premise'} is empty or has no "
                    "token, so there is nothing to compare. Fix the line."
                )
            yield pair


def _pairs(
    lines: Iterable[str],
    name: str,
    columns: tuple[str, ...],
    tokenize: Tokenize,
    on_bad: BadLine | None,
    *,
    labelled: bool = True,
) -> Iterator[SentencePair]:
    for number, record in records(lines, name, columns, on_bad):
        with reporting(on_bad, number):
            label = _word(record, _LABEL) if labelled else ""
            if labelled and not label:
                raise record.error(f"has an empty {_LABEL}", "Give the pair its label, or '-' to leave it out")
            premise, hypothesis = (_tokens(record, side, tokenize) for side in _SIDES)
            # Predictions are matched by the pair's name.
            own = _word(record, _ID) if record.get(_ID) is not None else ""
            yield SentencePair(premise, hypothesis, label, own or str(number), name, number)


def _word(record: Node, field: str) -> str:
    """A field that is written into a line of predictions."""
    value = record.get(field)
    return str(value) if type(value) is int else " ".join(record[field].text().split())


def _tokens(record: Node, side: str, tokenize: Tokenize) -> list[str]:
    parse = f"{side}_binary_parse"
    if record.get(parse):
        leaves = record[parse].text().split()
        return as_trained([_BRACKETS.get(leaf, leaf) for leaf in leaves if leaf not in ("(", ")")])
    return tokenize(composed(record[side].text())[0])
