"""Labelled sentences: trees, or tab-separated columns -> `LabelledSentence`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextError
from elmo.tasks.labels.labelled_lines import labelled_lines, nothing_in
from elmo.tasks.sst.settings import ClassifierSettings
from elmo.tasks.sst.trees import Phrase, parse_tree
from elmo.text.files.text_file import text_name
from elmo.text.tokenizer import tokenizer


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

    Raises TextError with file and line for what is not a tree, a line with too few columns, or one without a label or a
    word.
    """
    name = text_name(path)
    lines = enumerate(labelled_lines(path, settings.encoding), start=1)
    numbered = [(number, line) for number, line in lines if line.strip()]
    if not numbered:
        raise nothing_in(path, "sentence")
    is_tree = settings.layout == "trees" or (settings.layout == "auto" and _is_tree(numbered[0][1]))
    found = list(_trees(numbered, name) if is_tree else _rows(numbered, name, settings))
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


def _trees(lines: Sequence[tuple[int, str]], name: str) -> Iterator[LabelledSentence]:
    for number, line in lines:
        tokens, phrases = parse_tree(line, f"{name}:{number}")
        yield LabelledSentence(tokens, phrases[-1].label, phrases, name, number)


def _rows(lines: Sequence[tuple[int, str]], name: str, settings: ClassifierSettings) -> Iterator[LabelledSentence]:
    tokenize = tokenizer(settings.text_tokenizer)
    needed = max(settings.label_column, settings.text_column)
    for number, line in lines[settings.header :]:
        columns = line.split("\t")
        if len(columns) < needed:
            raise TextError(
                f"{name}:{number}: the line has {len(columns)} tab-separated columns, but column {needed} is needed. "
                "Fix the line, or choose the columns with --label-column and --text-column."
            )
        label, tokens = columns[settings.label_column - 1].strip(), tokenize(columns[settings.text_column - 1])
        if not label or not tokens:
            column = settings.text_column if label else settings.label_column
            raise TextError(
                f"{name}:{number}: column {column} is empty, but a {'sentence' if label else 'label'} belongs there. "
                "Fix the line or remove it."
            )
        yield LabelledSentence(tokens, label, (), name, number)
