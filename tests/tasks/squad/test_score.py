"""EM and F1 equal the official script's on its own figures, pitfalls included; the rule that answers questions."""

import json

import pytest

from elmo.tasks.squad.data import Question, read_predictions, read_questions
from elmo.tasks.squad.task import TASK, answered, bound_f1, match, normalized, squad_scores
from elmo.tasks.squad.tokens import ReaderSettings, tokenized


@pytest.fixture
def cases(golden_folder):
    return golden_folder / "tasks" / "squad_metric"


def test_each_pair_scores_as_in_the_official_script(cases):
    pairs = json.loads((cases / "pairs.json").read_text(encoding="utf-8"))
    assert len(pairs) == 300
    for pair in pairs:
        found = match(pair["prediction"], pair["answers"])
        assert found.exact is pair["exact_match"]
        assert found.f1 == pytest.approx(pair["f1"], abs=1e-12)
        assert normalized(pair["prediction"]) == pair["normalized_prediction"]
        assert [normalized(answer) for answer in pair["answers"]] == pair["normalized_answers"]


def test_whole_files_score_as_in_the_official_script(cases):
    questions = read_questions(cases / "dataset.json", ReaderSettings())
    predictions = read_predictions(cases / "predictions.json")
    expected = json.loads((cases / "expected_of_dataset.json").read_text(encoding="utf-8"))
    found = squad_scores(questions, predictions)
    assert found["exact_match"] == pytest.approx(expected["exact_match"], abs=1e-12)
    assert found["f1"] == pytest.approx(expected["f1"], abs=1e-12)
    assert (found["questions"], found["unanswered"]) == (expected["questions"], expected["unanswered"])
    assert found["superfluous"] == 1


def test_the_bound_counts_answers_that_are_too_long_as_lost(cases):
    questions = read_questions(cases / "dataset.json", ReaderSettings())
    assert 0 == bound_f1(questions, 0) < bound_f1(questions, 1) < bound_f1(questions) <= 100


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
