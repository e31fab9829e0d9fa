"""The rule that answers questions."""

import pytest

from elmo.tasks.squad.data import Question
from elmo.tasks.squad.task import TASK, answered
from elmo.tasks.squad.tokens import tokenized

PASSAGE = "Ada met Charles Babbage in June 1833 . The machine was never built . It rained ."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Whom did Ada meet in June ?", "Charles Babbage"),  # of equally long ones the first; "Ada" was asked about
        ("Was the machine built ?", "never"),  # no name or number in that sentence: its longest run of other words
        ("Whom did Ada , Charles and Babbage meet in June ?", "1833"),
        ("did it rained", "It rained ."),  # nothing but words of the question: all of the sentence
    ],
)
def test_the_answer_is_from_the_sentence_that_is_most_like_the_question(question, answer):
    found = answered(Question("1", tokenized(question), tokenized(PASSAGE)))
    assert found.text == answer
    assert PASSAGE[found.start : found.end] == answer


@pytest.mark.parametrize("passage", ["word", "?", "\u3002 \u3002"])
def test_any_passage_has_an_answer(passage):
    assert answered(Question("1", tokenized("Who ?"), tokenized(passage))).text


def test_the_task_knows_it():
    assert [rule.name for rule in TASK.rules([])] == ["similar-sentence"]
