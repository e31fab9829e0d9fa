"""Labelled sentences: trees, JSON lines with `label` and `text`, or tab-separated columns -> `LabelledSentence`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from elmo.errors import TextError
from elmo.setting_checks import Chance, Must, require_setting
from elmo.tasks.lines import labelled_lines, nothing_in, records, reporting, skipping
from elmo.tasks.settings import CharacterSettings, FitSettings, LabelSettings, Size, TaskSettings
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.tokenizer import tokenizer

_EACH = Must("from 0 to below 1 each", lambda chances: all(0 <= chance < 1 for chance in chances))


@dataclass(frozen=True)
class ClassifierSettings(LabelSettings, CharacterSettings):
    """Data and network of the classifier."""

    layout: Literal["auto", "trees", "tsv"] = "auto"
    """Format of the files. trees: one labelled tree per line, as in the Stanford Sentiment Treebank; tsv: tab-separated
    columns, or JSON lines with label and text; auto: detected from the first line."""
    label_column: Size = 1
    """tsv: column of the labels, counted from 1. A first line with the names label and text says itself which columns
    they are."""
    text_column: Size = 2
    """tsv: column of the sentences, counted from 1."""
    header: bool = False
    """tsv: whether the first line has the names of the columns."""
    text_tokenizer: str = "whitespace"
    """tsv: how sentences are split into tokens. whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function, a function of your own."""
    phrases: Literal["none", "distinct", "all"] = "distinct"
    """trees: which labelled phrases are training examples in addition to the sentences. none; distinct: each phrase
    once, however often it occurs in the data; all: as often as it occurs (the original's way)."""
    min_phrase_tokens: Size = 4
    """trees: shorter phrases are not used as training examples. The paper's value is 4; 1 includes single words."""
    network: Literal["biattentive", "last_state"] = "biattentive"
    """What classifies. biattentive: the network of McCann et al. 2017; last_state: a hidden layer on the state of a
    forward language model after the sentence, as in Dai and Le 2015. Of the settings below, last_state has hidden_size
    and pooled_dropout."""
    hidden_size: Size = 100
    """Units of the first layer, and of each biLSTM in each direction. The original has 300."""
    input_dropout: Chance = 0.25
    """Dropout on the tokens' vectors (after ELMo's own dropout)."""
    projection_dropout: Chance = 0.25
    """Dropout after the first layer."""
    pooled_dropout: Chance = 0.1
    """Dropout on the sentence's vector."""
    head: Literal["maxout", "relu"] = "maxout"
    """Last layers. maxout: as McCann et al. 2017; relu: as the ELMo paper."""
    head_dropouts: Annotated[tuple[float, ...], _EACH] = (0.2, 0.3)
    """Dropout of each layer before the last one; each layer is half as wide as the previous one."""
    maxout_pieces: Size = 4
    """maxout: number of linear functions over which the maximum is taken."""

    def __post_init__(self) -> None:
        super().__post_init__()
        chances = self.head_dropouts
        narrowest = self.hidden_size * 8 >> len(chances)
        require_setting(narrowest >= 1, "head_dropouts", chances, f"fewer: after {len(chances)} layers no unit is left")


@dataclass(frozen=True)
class SstSettings(TaskSettings):
    """All settings of `elmo task train sst`."""

    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=20, patience=3, batch_size=100))
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)


# In files with fewer lines a label may stand once by chance.
_LINES_PER_LABEL = 5
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
        if not is_open and (phrases or text != "("):
            raise _wrong(where, f"{text!r} is outside the brackets of the line's tree")
        if is_open and is_open[-1][0] is None:
            if text not in LABELS:
                raise _wrong(where, f"the label must be one of {', '.join(LABELS)} (got {text!r})")
            is_open[-1] = (text, len(tokens))
        elif text == "(":
            is_open.append((None, len(tokens)))
        elif text == ")":
            label, start = is_open.pop()
            if label is None or start == len(tokens):
                raise _wrong(where, "a bracket closes a phrase without a word")
            phrases.append(Phrase(label, start, len(tokens)))
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
        lines = list(labelled_lines(path, settings.encoding, on_bad))
        first = next((line for line in lines if line.strip()), "").lstrip()
        looks_like_trees = first.startswith("(") and "\t" not in first
        is_tree = settings.layout == "trees" or (settings.layout == "auto" and looks_like_trees)
        found = list(_trees(lines, name, on_bad) if is_tree else _rows(lines, name, settings, on_bad))
    if not found:
        raise nothing_in(path, "sentence")
    return found


def doubt_about(examples: Sequence[LabelledSentence]) -> str | None:
    """What shows that the columns of training data are others, or that the first line has their names."""
    first, counts = min(examples, key=lambda one: one.line), Counter(one.label for one in examples)
    if sum(len(one.label.split()) for one in examples) > sum(len(one.tokens) for one in examples):
        return (
            f"the labels, such as {first.label!r:.60}, have more words than the sentences. If the columns are others, "
            "use --label-column and --text-column."
        )
    if counts[first.label] == 1 and len(examples) >= _LINES_PER_LABEL * len(counts):
        return f"line {first.line} alone has the label {first.label!r:.60}. If it names the columns, add --header."
    return None


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


def _trees(lines: Sequence[str], name: str, on_bad: BadLine | None) -> Iterator[LabelledSentence]:
    for number, line in enumerate(lines, start=1):
        if line.strip() and line != UNDECODABLE:
            with reporting(on_bad, number):
                tokens, phrases = parse_tree(line, f"{name}:{number}")
                yield LabelledSentence(tokens, phrases[-1].label, phrases, name, number)


def _rows(
    lines: Sequence[str], name: str, settings: ClassifierSettings, on_bad: BadLine | None
) -> Iterator[LabelledSentence]:
    tokenize = tokenizer(settings.text_tokenizer)
    columns = [""] * max(settings.label_column, settings.text_column)
    columns[settings.label_column - 1], columns[settings.text_column - 1] = "label", "text"
    for number, record in records(lines, name, columns, on_bad, header=settings.header):
        with reporting(on_bad, number):
            value = record.get("label")
            label = str(value) if type(value) is int else record["label"].text().strip()
            tokens = tokenize(composed(record["text"].text())[0])
            if not label or not tokens:
                raise record.error(f"has an empty {'text' if label else 'label'}", "Fix the line or remove it")
            yield LabelledSentence(tokens, label, (), name, number)
