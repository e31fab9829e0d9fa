"""Questions without answers: SQuAD JSON, JSON lines, or a question, a tab and its passage on each line."""

import json
from collections.abc import Iterator
from pathlib import Path

from elmo.errors import TextError
from elmo.tasks.labels.labelled_lines import labelled_lines
from elmo.tasks.squad.data import Question, questions_of, require_own_id, tokens_of
from elmo.tasks.squad.json_tree import Node, parse_tree
from elmo.tasks.squad.settings import ReaderSettings
from elmo.tasks.task import TextReading
from elmo.text.files.text_file import text_name


def read_unlabelled(path: Path | str, settings: ReaderSettings, reading: TextReading) -> Iterator[Question]:
    """The questions of a file; "-" is standard input.

    SQuAD JSON, whose answers are ignored, if there are any; else each line is an object with "question", "context" and,
    if there is one, "id", or has a question, a tab and its passage. Without an id, a question has the number of its
    line. Raises TextError with file and line, or the question's id, also for a second question of the same id; a line
    that doesn't fit may be skipped instead, see `TextReading.errors`.
    """
    lines = list(labelled_lines(path, reading.encoding))
    beginning = next((line.lstrip() for line in lines if line.strip()), "")
    if beginning.startswith("{") and not _is_question(beginning):
        yield from questions_of(parse_tree(lines, text_name(path)), settings, labelled=False)
        return
    seen: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(line, number, f"{text_name(path)}:{number}", settings)
            require_own_id(question, seen)
            yield question
        except TextError as error:
            if reading.errors == "strict":
                raise
            if reading.on_bad_line is not None:
                reading.on_bad_line(number, str(error))


def _is_question(line: str) -> bool:
    """Whether it is an object of one line with a question."""
    try:
        return "question" in json.loads(line)
    except (ValueError, RecursionError):
        return False


def _question(line: str, number: int, where: str, settings: ReaderSettings) -> Question:
    if line.lstrip().startswith("{"):
        node = parse_tree([line], where)
        question, passage = node["question"].text(), node["context"].text()
        key = _key(node, number)
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


def _key(node: Node, number: int) -> str:
    return node["id"].text() if "id" in node else str(number)
