"""SQuAD 1.1 JSON -> questions with their passages and gold answers; predictions -> the official JSON.

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 17}]}]}]}]}

`answer_start` counts code points of the context from 0. Whatever doesn't fit is a TextError that names the file and the
question: an answer that isn't where it claims to be would silently train and score something else.
Source: Rajpurkar et al. 2016, version 1.1 of the data set.
"""

import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextError, TextWarning
from elmo.process.text_table import shortened
from elmo.tasks.lines import labelled_lines, of_own_names, reporting, skipping
from elmo.tasks.squad.settings import ReaderSettings
from elmo.tasks.squad.tokens import TokenizedText, TokenSpan, tokenized
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.json_tree import Node, parse_tree

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
    """The questions of a SQuAD 1.1 file, which may be packed (.gz, .xz, .bz2), with their answers.

    Raises TextError, with the file and the question's id, for what isn't of this format, a repeated id, an empty
    question or passage, an answer that isn't in its passage, and questions of SQuAD 2.0 that can't be answered. What
    the settings leave out is counted in a TextWarning.
    """
    with skipping(path, settings.errors) as on_bad:
        tree = parse_tree(labelled_lines(path, settings.encoding), text_name(path))
        return questions_of(tree, settings, labelled=True, on_bad=on_bad)


def questions_of(
    tree: Node, settings: ReaderSettings, *, labelled: bool, on_bad: BadLine | None = None
) -> list[Question]:
    """The questions of a file that was read. Raises as `read_questions`.

    `labelled`: whether every question must have an answer; else answers are ignored.
    """
    found = list(_questions(tree, settings, labelled, on_bad))
    if labelled and settings.unanswerable == "skip":
        found = _answerable(found, tree.source)
    if not found:
        raise TextError(f"{tree.source}: there is no question in it. Check that it is a SQuAD 1.1 file of questions.")
    return of_own_names(found, require_own_id, on_bad)


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


def require_own_id(question: Question, seen: dict[str, str]) -> None:
    """Notes in `seen` where the question is from, by its id. TextError if the id is there already."""
    if question.id in seen:
        before = seen[question.id]
        others = "two questions" if before == question.source else f"this question and to one of {before}"
        raise TextError(
            f"{question.source}: the id {question.id!r} belongs to {others}, but predictions are matched by it. Give "
            "each question an id of its own."
        )
    seen[question.id] = question.source


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


def _questions(tree: Node, settings: ReaderSettings, labelled: bool, on_bad: BadLine | None) -> Iterator[Question]:
    for article in tree["data"].items():
        title = article["title"].text() if "title" in article else ""
        for paragraph in article["paragraphs"].items():
            with reporting(on_bad, 0):
                passage = _tokens(paragraph["context"], settings)
                for node in paragraph["qas"].items():
                    with reporting(on_bad, 0):
                        yield _question(node, passage, title, settings, labelled)


def _question(node: Node, passage: TokenizedText, title: str, settings: ReaderSettings, labelled: bool) -> Question:
    key = node["guid" if "guid" in node and "id" not in node else "id"].text()  # KLUE's name for it
    node = node.named(f"question {key!r}")
    answers = tuple(_answers(node, passage, settings.unanswerable == "stop")) if labelled else ()
    return Question(key, _tokens(node["question"], settings), passage, answers, title, node.source)


def tokens_of(text: str, settings: ReaderSettings) -> TokenizedText:
    """A question or a passage in tokens; there may be none."""
    return tokenized(
        text,
        name=settings.question_tokenizer,
        split_hyphens=settings.split_hyphens,
        plain_quotes=settings.plain_quotes,
    )


def _tokens(node: Node, settings: ReaderSettings) -> TokenizedText:
    found = tokens_of(node.text(), settings)
    if not found.tokens:
        raise node.error("is empty or has no token", "Remove the question, or the whole paragraph")
    return found


def _answers(node: Node, passage: TokenizedText, must_have_one: bool) -> Iterator[Answer]:
    if node.get("is_impossible") is True:
        if not must_have_one:
            return
        raise node.error(
            "is marked as impossible to answer, as in SQuAD 2.0, but this task is SQuAD 1.1's: every question has an "
            "answer in its passage",
            "Leave such questions out with --unanswerable skip",
        )
    answers = list(node["answers"].items())
    if not answers and must_have_one:
        raise node.error(
            "has no answer",
            "Give it one, leave such questions out with --unanswerable skip, or use 'elmo task predict', which needs "
            "no answers",
        )
    for answer in answers:
        yield _answer(answer, passage)


def _answer(node: Node, passage: TokenizedText) -> Answer:
    text, start = node["text"].text(), node["answer_start"].whole_number()
    stripped = text.strip()
    if not stripped:
        raise node.error("is empty", "Remove the answer, or the question if it has no other")
    if start < 0 or passage.text[start : start + len(text)] != text:
        raise node.error(*_not_there(text, start, passage.text))
    begin = start + len(text) - len(text.lstrip())
    span = passage.covering(begin, begin + len(stripped))
    if span is None:
        raise node.error(
            f"is {text!r}, which holds no token of its passage, only invisible characters", "Remove the answer"
        )
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


def read_unlabelled(path: Path | str, settings: ReaderSettings, reading: TextReading) -> Iterator[Question]:
    """The questions of a file; "-" is standard input.

    SQuAD JSON, whose answers are ignored, if there are any; else each line is an object with "question", "context" and,
    if there is one, "id", or has a question, a tab and its passage. Without an id, a question has the number of its
    line. Raises TextError with file and line, or the question's id, also for a second question of the same id; what
    doesn't fit may be skipped instead, see `TextReading.errors`.
    """
    lines = list(labelled_lines(path, reading.encoding, reading.on_bad))
    beginning = next((line.lstrip() for line in lines if line.strip()), "")
    if beginning.startswith("{") and not _is_question(beginning):
        yield from questions_of(parse_tree(lines, text_name(path)), settings, labelled=False, on_bad=reading.on_bad)
        return
    seen: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line == UNDECODABLE:
            continue
        with reporting(reading.on_bad, number):
            question = _question_of_line(line, number, f"{text_name(path)}:{number}", settings)
            require_own_id(question, seen)
            yield question


def _is_question(line: str) -> bool:
    try:
        return "question" in json.loads(line)
    except (ValueError, RecursionError):
        return False


def _question_of_line(line: str, number: int, where: str, settings: ReaderSettings) -> Question:
    if line.lstrip().startswith("{"):
        node = parse_tree([line], where)
        question, passage = node["question"].text(), node["context"].text()
        key = node["id"].text() if "id" in node else str(number)
    else:
        question, tab, passage = line.partition("\t")
        if not tab:
            raise TextError(
                f"{where}: there is no tab. A line has a question, a tab and the passage to answer it from; JSON as "
                "SQuAD's will do too."
            )
        key = str(number)
    asked, read = tokens_of(question, settings), tokens_of(passage, settings)
    if not asked.tokens or not read.tokens:
        raise TextError(
            f"{where}: the {'passage' if asked.tokens else 'question'} is empty or has no token. Fix the line."
        )
    return Question(key, asked, read, source=where)
