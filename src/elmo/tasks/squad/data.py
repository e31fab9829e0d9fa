"""SQuAD 1.1 JSON -> questions with their passages and gold answers; predictions -> the official JSON.

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 17}]}]}]}]}

The same questions may be JSON lines, each with its "context", as Hugging Face's copies are; without answers also a
question, a tab and its passage on each line, which is named by its number.

`answer_start` counts code points of the context from 0. Whatever doesn't fit is a TextError that names the file and the
question: an answer that isn't where it claims to be would silently train and score something else.
Source: Rajpurkar et al. 2016, version 1.1 of the data set.
"""

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextWarning
from elmo.process.text_table import shortened
from elmo.tasks.json_tree import Node, parse_tree
from elmo.tasks.lines import labelled_lines, nothing_in, of_own_names, records, reporting, skipping
from elmo.tasks.squad.tokens import ReaderSettings, TokenizedText, TokenSpan, tokenized
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name

_SHOWN = 40


@dataclass(frozen=True)
class Answer:
    """A gold answer."""

    text: str
    """As annotated."""
    span: TokenSpan
    """The tokens that it overlaps."""


@dataclass(frozen=True)
class PredictedAnswer:
    """What a question is answered with."""

    text: str
    """Cut from the passage."""
    start: int
    """Its first code point in the passage."""
    end: int
    """The code point after its last one."""
    probability: float
    """The product of the probabilities of its first and its last token."""

    @classmethod
    def of(cls, passage: TokenizedText, span: TokenSpan, probability: float) -> "PredictedAnswer":
        """From the first token of the span to its last."""
        start, end = passage.offsets[span[0]][0], passage.offsets[span[1]][1]
        return cls(passage.text[start:end], start, end, probability)


@dataclass(frozen=True)
class Question:
    """A question about a passage."""

    id: str
    question: TokenizedText
    passage: TokenizedText
    """Questions about the same passage share it."""
    answers: tuple[Answer, ...] = ()
    """The gold answers; empty: unknown."""
    article: str = ""
    """The title of the article that the passage is from."""
    source: str = ""
    """The file's name."""


def read_questions(path: Path | str, settings: ReaderSettings) -> list[Question]:
    """The questions of a file, which may be packed (.gz, .xz, .bz2), with their answers.

    Raises TextError, with the file and the question's id, for what isn't of one of the forms, a repeated id, an empty
    question or passage, an answer that isn't in its passage, and questions of SQuAD 2.0 that can't be answered. What
    the settings leave out is counted in a TextWarning.
    """
    with skipping(path, settings.errors) as on_bad:
        lines, name = list(labelled_lines(path, settings.encoding)), text_name(path)
        found = list(_questions(lines, name, settings, labelled=True, on_bad=on_bad))
        if settings.unanswerable == "skip":
            found = _answerable(found, name)
        if not found:
            raise nothing_in(path, "question")
        return of_own_names(found, id_of, on_bad)


def read_unlabelled(path: Path | str, settings: ReaderSettings, reading: TextReading) -> list[Question]:
    """The questions of a file; "-" is standard input. Answers are ignored, if there are any. Raises as
    `read_questions`; what doesn't fit may be skipped instead, see `TextReading.errors`."""
    lines = list(labelled_lines(path, reading.encoding, reading.on_bad))
    found = _questions(lines, text_name(path), settings, labelled=False, on_bad=reading.on_bad)
    return of_own_names(found, id_of, reading.on_bad)


def _answerable(questions: list[Question], source: str) -> list[Question]:
    found = [question for question in questions if question.answers]
    if missing := len(questions) - len(found):
        warnings.warn(
            f"{source}: left out {missing:,} of its {len(questions):,} questions, which have no answer (--unanswerable "
            "skip). Scores are of the others only, so they can't be compared with those of SQuAD 2.0.",
            TextWarning,
            stacklevel=1,
        )
    return found


def id_of(question: Question) -> tuple[str, str]:
    """The question's id, by which predictions are matched, and where it is from."""
    return question.id, question.source


def write_predictions(predictions: Iterable[tuple[str, str]]) -> Iterator[str]:
    """(id, answer) pairs -> the lines of a JSON object that the official evaluation script reads."""
    before = "{"
    for key, answer in predictions:
        yield before
        before = f"{_quoted(key)}: {_quoted(answer)},"
    yield before.removesuffix(",")
    yield "}"


def read_predictions(path: Path | str, encoding: str = "utf-8") -> dict[str, str]:
    """The reverse of `write_predictions`: answers by id. TextError for a file of another layout."""
    tree = parse_tree(labelled_lines(path, encoding), text_name(path))
    return {key: node.string() for key, node in tree.members()}


def _quoted(text: str) -> str:
    """A JSON string, readable unless it holds what UTF-8 can't."""
    shown = json.dumps(text, ensure_ascii=False)
    return shown if shown.isprintable() else json.dumps(text)


def _questions(
    lines: Sequence[str], name: str, settings: ReaderSettings, *, labelled: bool, on_bad: BadLine | None
) -> Iterator[Question]:
    """`labelled`: whether every question must have an answer; else answers are ignored."""
    first = next((line.lstrip() for line in lines if line.strip()), "")
    if first.startswith("{") and not _is_question(first):
        for article in parse_tree(lines, name)["data"].items():
            title = article["title"].text() if "title" in article else ""
            for paragraph in article["paragraphs"].items():
                with reporting(on_bad, 0):
                    passage = _tokens(paragraph["context"], settings)
                    for node in paragraph["qas"].items():
                        with reporting(on_bad, 0):
                            key = node["id"].text()
                            named = node.named(f"question {key!r}")
                            yield _question(named, key, passage, title, settings, labelled)
        return
    passages: dict[str, TokenizedText] = {}
    for number, record in records(lines, name, ("question", "context"), on_bad):
        with reporting(on_bad, number):
            text = record["context"].text()
            passage = passages[text] = passages.get(text) or _tokens(record["context"], settings)
            key = record["id"].text() if "id" in record else str(number)
            title = record["title"].text() if "title" in record else ""
            yield _question(record, key, passage, title, settings, labelled)


def _is_question(line: str) -> bool:
    try:
        return "question" in json.loads(line)
    except (ValueError, RecursionError):
        return False


def _question(
    node: Node, key: str, passage: TokenizedText, title: str, settings: ReaderSettings, labelled: bool
) -> Question:
    answers = tuple(_answers(node, passage, settings.unanswerable == "stop")) if labelled else ()
    return Question(key, _tokens(node["question"], settings), passage, answers, title, node.source)


def _tokens(node: Node, settings: ReaderSettings) -> TokenizedText:
    found = tokenized(node.text(), settings)
    if not found.tokens:
        raise node.error("is empty or has no token", "Remove the question, or the whole paragraph")
    return found


def _answers(node: Node, passage: TokenizedText, must_have_one: bool) -> Iterator[Answer]:
    given = node["answers"]
    if isinstance(node.get("answers"), dict):  # as Hugging Face's copies have them
        texts, starts = list(given["text"].items()), list(given["answer_start"].items())
        if len(texts) != len(starts):
            raise given.error(f"has {len(texts)} texts and {len(starts)} of answer_start", "Give each text its start")
        answers = list(zip(texts, starts, strict=True))
    else:
        answers = [(answer["text"], answer["answer_start"]) for answer in given.items()]
    if not answers and must_have_one:
        raise node.error("has no answer", "Give it one, or leave such questions out with --unanswerable skip")
    for text, start in answers:
        yield _answer(text, start.whole_number(), passage)


def _answer(node: Node, start: int, passage: TokenizedText) -> Answer:
    text = node.text()
    stripped = text.strip()
    if start < 0 or passage.text[start : start + len(text)] != text:
        raise node.error(*_not_there(text, start, passage.text))
    begin = start + len(text) - len(text.lstrip())
    span = passage.covering(begin, begin + len(stripped)) if stripped else None
    if span is None:
        step = "Remove the answer, or the question if it has no other"
        raise node.error(f"is {text!r}, which holds no token of its passage", step)
    return Answer(text, span)


def _not_there(text: str, start: int, passage: str) -> tuple[str, str]:
    """What to say of an answer that isn't where it should be."""
    if not 0 <= start < len(passage):
        place = f"which is outside its passage of {len(passage)} code points"
    else:
        place = f"where the passage has {shortened(passage[start : start + len(text)], _SHOWN)!r}"
    found = passage.find(text)
    step = (
        f"The passage has it at {found}; answer_start counts code points from 0, neither bytes nor UTF-16 units"
        if found >= 0
        else "The passage doesn't have it anywhere; correct the answer or remove the question"
    )
    return f"is {shortened(text, _SHOWN)!r} at {start}, {place}", step
