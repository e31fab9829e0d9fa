"""Labelled sentences: trees, or tab-separated columns -> `LabelledSentence`."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elmo.disk.bounded import shown
from elmo.errors import TextError
from elmo.tasks.labelled_lines import labelled_lines, nothing_in, reporting, skipping
from elmo.tasks.labels import require_label_column
from elmo.tasks.sst.settings import ClassifierSettings
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.json_array import first_object
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.tokenizer import tokenizer

LABELS = ("0", "1", "2", "3", "4")

_PARTS = re.compile(r"[()]|[^()\s]+")
# The treebank writes marks that its own notation needs, or once needed, in other ways.
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True)
class Phrase:
    """A node of a tree: tokens `start` to before `end`."""

    label: str
    start: int
    end: int


def parse_tree(line: str, place: str) -> tuple[list[str], list[Phrase]]:
    """The tokens of a tree like `(3 (2 It) (4 (2 's) (4 good)))`, and all its phrases, inner ones first, itself last.

    Source: Socher et al. 2013, the Stanford Sentiment Treebank: labels 0 (very negative) to 4 (very positive).

    `place`: FILE:LINE for messages. Raises TextError, with the column, if the line isn't such a tree.
    """
    tokens: list[str] = []
    phrases: list[Phrase] = []
    # Of each open bracket its label, None before it is read, and where its phrase begins.
    is_open: list[tuple[str | None, int]] = []
    for part in _PARTS.finditer(line):
        text, where = part[0], f"{place}: column {part.start() + 1}"
        if phrases and not is_open:
            raise _wrong(where, f"{text!r} follows the end of the tree, but a line can have only one tree")
        if text == "(":
            if is_open and is_open[-1][0] is None:
                raise _wrong(where, "a bracket opens where the label of the one before it belongs")
            is_open.append((None, len(tokens)))
        elif not is_open:
            raise _wrong(where, f"{text!r} is outside all brackets")
        elif text == ")":
            label, start = is_open.pop()
            if label is None or start == len(tokens):
                raise _wrong(where, f"a bracket closes a phrase without a {'label' if label is None else 'word'}")
            phrases.append(Phrase(label, start, len(tokens)))
        elif is_open[-1][0] is None:
            if text not in LABELS:
                raise _wrong(where, f"the label must be one of {', '.join(LABELS)} (got {text!r})")
            is_open[-1] = (text, len(tokens))
        else:
            tokens.append(_ESCAPES.get(text) or text.replace("\\/", "/").replace("\\*", "*"))
    if is_open or not phrases:
        raise _wrong(f"{place}: column {len(line) + 1}", f"the line ends with {len(is_open)} brackets still open")
    return as_trained(tokens), phrases


def _wrong(where: str, what: str) -> TextError:
    return TextError(
        f"{where}: {what}. Each line must be a tree like (3 (2 It) (4 works)); fix the line, or read other files with "
        "--layout tsv."
    )


_LABEL_NAMES = ("label", "gold_label", "sentiment", "class")
_TEXT_NAMES = ("sentence", "text", "document", "review")


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence, or a phrase of one, and its label."""

    tokens: list[str]
    label: str = ""
    """Empty: unknown."""
    phrases: Sequence[Phrase] = ()
    """All that are labelled, the sentence itself included; only trees have them."""
    source: str = ""
    """The file's name."""
    line: int = 0
    """In it, from 1."""


def read_labelled(path: Path | str, settings: ClassifierSettings) -> list[LabelledSentence]:
    """The labelled sentences of a file; blank lines are left out.

    Raises TextError with file and line for a line that is not a tree, or has too few columns, no label or no word.
    """
    name = text_name(path)
    with skipping(path, settings.errors) as on_bad:
        lines = enumerate(labelled_lines(path, settings.encoding, on_bad), start=1)
        numbered = [(number, line) for number, line in lines if line.strip() and line != UNDECODABLE]
        if not numbered:
            raise nothing_in(path, "sentence")
        is_tree = settings.layout == "trees" or (settings.layout == "auto" and _is_tree(numbered[0][1]))
        if is_tree:
            found = list(_trees(numbered, name, on_bad))
        else:
            _require_columns([line for _, line in numbered], name)
            settings = _with_names(numbered[0][1], settings)
            found = list(_rows(numbered[settings.header :], name, settings, on_bad))
            _require_labels(numbered[settings.header :], name, settings)
    if not found:  # but a header
        raise nothing_in(path, "sentence")
    return found


def phrases_of(examples: Sequence[LabelledSentence], settings: ClassifierSettings) -> list[LabelledSentence]:
    """What is trained on: every sentence, and the phrases of each that are asked for."""
    if settings.phrases == "none":
        return list(examples)
    found = list(examples)
    seen = {(example.label, *example.tokens) for example in examples}
    for example in examples:
        for phrase in example.phrases[:-1]:
            tokens = example.tokens[phrase.start : phrase.end]
            if len(tokens) < settings.min_phrase_tokens:
                continue
            key = (phrase.label, *tokens)
            if settings.phrases == "all" or key not in seen:
                found.append(LabelledSentence(tokens, phrase.label, (), example.source, example.line))
                seen.add(key)
    return found


def _is_tree(line: str) -> bool:
    return line.lstrip().startswith("(") and "\t" not in line


def _require_columns(lines: Sequence[str], name: str) -> None:
    """TextError for objects of JSON and for CSV, with a command that makes columns of them."""
    if all(_known(lines[0].replace('"', "").lower().split(","))):
        what = "is CSV"
        cells = "(' '.join(cell.split()) for cell in row)"
        command = f"python -c \"import csv, sys; [print(*{cells}, sep='\\t') for row in csv.reader(sys.stdin)]\" < OLD"
    else:
        found = first_object(lines)
        if found is None:
            return
        first, each = found
        label, text = _known(list(first))
        texts = {key: value for key, value in first.items() if isinstance(value, str) and key != label}
        text = text or max(texts, key=lambda key: len(texts[key].split()), default=None)
        what = f"holds JSON objects with the fields {shown(list(first))}"
        fields = ", ".join(f".{json.dumps(key, ensure_ascii=False)}" for key in (label or "LABEL", text or "TEXT"))
        made = rf'{each} | [{fields}] | map(tostring | gsub("\\s+"; " ")) | join("\t")'
        command = f"{'' if label else 'with the name of your field in place of LABEL, '}jq -r {shlex.quote(made)} OLD"
    raise TextError(
        f"{name}: {what}, but a line must be a tree, or a label and a sentence with a tab between them. Make such a "
        f"file: {command} > NEW.tsv"
    )


def _known(names: Sequence[str]) -> tuple[str | None, str | None]:
    """Which of these names are those of the labels and of the texts."""
    label, text = (next((name for name in known if name in names), None) for known in (_LABEL_NAMES, _TEXT_NAMES))
    return label, text


def _with_names(line: str, settings: ClassifierSettings) -> ClassifierSettings:
    """The settings with the columns that a first line names, as those of SST-2 and NSMC do."""
    names = [name.strip().lower() for name in line.split("\t")]
    label, text = _known(names)
    if settings.header or label is None or text is None:
        return settings
    return replace(settings, label_column=names.index(label) + 1, text_column=names.index(text) + 1, header=True)


def _trees(lines: Sequence[tuple[int, str]], name: str, on_bad: BadLine | None) -> Iterator[LabelledSentence]:
    for number, line in lines:
        with reporting(on_bad, number):
            tokens, phrases = parse_tree(line, f"{name}:{number}")
            yield LabelledSentence(tokens, phrases[-1].label, phrases, name, number)


def _rows(
    lines: Sequence[tuple[int, str]], name: str, settings: ClassifierSettings, on_bad: BadLine | None
) -> Iterator[LabelledSentence]:
    tokenize = tokenizer(settings.text_tokenizer)
    for number, line in lines:
        with reporting(on_bad, number):
            label, text = _cells(line, f"{name}:{number}", settings)
            tokens = tokenize(composed(text)[0])
            if not label or not tokens:
                column = settings.text_column if label else settings.label_column
                raise TextError(
                    f"{name}:{number}: column {column} is empty, but a {'sentence' if label else 'label'} belongs "
                    "there. Fix the line or remove it."
                )
            yield LabelledSentence(tokens, label, (), name, number)


def _cells(line: str, where: str, settings: ClassifierSettings) -> tuple[str, str]:
    columns, needed = line.split("\t"), max(settings.label_column, settings.text_column)
    if len(columns) < needed:
        raise TextError(
            f"{where}: the line has {len(columns)} tab-separated columns, but column {needed} is needed. "
            "Fix the line, or choose the columns with --label-column and --text-column."
        )
    return columns[settings.label_column - 1].strip(), columns[settings.text_column - 1]


def _require_labels(lines: Sequence[tuple[int, str]], name: str, settings: ClassifierSettings) -> None:
    """TextError if the label column looks like texts, and another column like labels."""
    rows = [line.split("\t") for _, line in lines]
    rows = [row for row in rows if len(row) >= max(settings.label_column, settings.text_column)]
    step = f"Say which columns they are with --label-column {{}} --text-column {settings.label_column}."
    require_label_column(rows, settings.label_column - 1, name, step.format)
