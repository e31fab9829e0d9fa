"""The reader: indifferent to its batch, and answers are cut from the passage as it stands in the file."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.tasks.small_models import small_model, small_tokens, static_of

from elmo.tasks.squad.data import Answer, Question
from elmo.tasks.squad.model import Reader, best_spans, padded_width
from elmo.tasks.squad.task import TASK
from elmo.tasks.squad.tokens import ReaderSettings, SquadSettings, tokenized


def test_widths_are_at_most_an_eighth_more_and_eight_for_each_doubling():
    assert padded_width(0) == 0
    widths = [padded_width(tokens) for tokens in range(1, 4097)]
    assert all(tokens <= width < tokens * 1.125 for tokens, width in enumerate(widths, start=1))
    assert len(set(widths[16 - 1 :])) == 8 * 8 + 1


def brute_force(start, end, length, limit):
    spans = [(i, j) for i in range(length) for j in range(i, min(i + limit, length))]
    return min(spans, key=lambda span: (-(start[span[0]] + end[span[1]]), span[1] - span[0], span[0]))


@given(st.data())
def test_spans_equal_brute_force(data):
    length, padding = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 3))
    limit = data.draw(st.integers(1, 12))
    # Few different values, so that ties are frequent.
    logits = st.lists(st.integers(-3, 3), min_size=length, max_size=length)
    start, end = data.draw(logits), data.draw(logits)
    rows = [torch.tensor([*row, *[9] * padding], dtype=torch.float32)[None] for row in (start, end)]
    mask = torch.arange(length + padding)[None, :] < length
    assert tuple(best_spans(*rows, mask, limit)[0].tolist()) == brute_force(start, end, length, limit)


PASSAGES = [
    "Anna\u2019s house\u2014the old one\u2014is in Rome.",
    "Oslo",
    "It was 5,000 \u201cfeet\u201d high, or more.",
]
QUESTIONS = ["Where is the house?", "Where?", "How high was it, in feet, at most?"]


STATIC = static_of(["Rome", "house"])


def examples(**answer):
    texts = zip(QUESTIONS, PASSAGES, strict=True)
    answers = (Answer("", (0, 0)),)
    return [Question(str(place), tokenized(one), tokenized(two), answers) for place, (one, two) in enumerate(texts)]


@pytest.fixture
def build(tiny_bilm):
    def build(reader=None, encoder="none", **tokens):
        torch.manual_seed(0)
        reader = reader or ReaderSettings(hidden_size=4, character_filters=5)
        bilm = None if encoder == "none" else tiny_bilm
        return Reader(reader, {"characters": list("Anahouseis")}, small_tokens(bilm, STATIC, **tokens)).eval()

    return build


@pytest.mark.parametrize("placement", ["input", "both"])
def test_a_wider_batch_has_the_same_loss_and_gradients(build, monkeypatch, placement):
    reader, questions = build(encoder="elmo", placement=placement), examples()
    parameters = [one for one in reader.parameters() if one.requires_grad]
    found = []
    for width in (lambda tokens: tokens, lambda tokens: tokens + 5):
        monkeypatch.setattr("elmo.tasks.squad.model.padded_width", width)
        loss = reader.loss(questions)
        found.append([loss, *torch.autograd.grad(loss, parameters)])
        assert reader._read([["Oslo"], ["a", "b"]]).mask.shape == (2, width(2))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_answers_are_cut_from_the_passage(build):
    for question, answer in zip(examples(), build().predict(examples()), strict=True):
        assert answer.text == question.passage.text[answer.start : answer.end]
        assert 0 < answer.probability <= 1
        covering = question.passage.covering(answer.start, answer.end)
        assert question.passage.cut(covering) == answer.text


@torch.no_grad()
def test_an_answer_has_at_most_so_many_tokens(build):
    reader = build(ReaderSettings(hidden_size=4, character_filters=5, max_answer_tokens=1))
    for question, answer in zip(examples(), reader.predict(examples()), strict=True):
        first, last = question.passage.covering(answer.start, answer.end)
        assert first == last


def test_a_step_is_trained_on_one_of_the_answers_and_each_has_its_turn():
    answers = tuple(Answer(text, (place, place)) for place, text in enumerate("abc"))
    question = Question("1", tokenized("a?"), tokenized("a b c"), answers)
    random = np.random.default_rng(0)
    drawn = {TASK.drawn(question, random).answers for _ in range(50)}
    assert drawn == {(answer,) for answer in answers}


@pytest.mark.parametrize(("target", "expected"), [("first", "a"), ("majority", "b")])
def test_the_target_may_be_fixed(target, expected):
    answers = tuple(Answer(text, (place, place)) for place, text in ((0, "a"), (1, "b"), (1, "b")))
    question = Question("1", tokenized("a?"), tokenized("a b c"), answers)
    (found,) = TASK.training([question], SquadSettings(reader=ReaderSettings(target=target)))
    assert [answer.text for answer in found.answers] == [expected]


def test_of_a_word_the_first_fourteen_characters_are_read():
    model = small_model("squad", small_tokens())

    def start(word):
        return model([Question("1", tokenized("who ?"), tokenized(f"Anna {word} ."), (Answer("Anna", (0, 1)),))]).start

    known = "abdno" * 3
    with torch.no_grad():
        assert torch.equal(start(known[:14]), start(known[:14] + "a"))
        assert not torch.equal(start(known[:14]), start(known[:13] + "a"))
