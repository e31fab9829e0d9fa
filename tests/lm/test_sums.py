"""What a perplexity is made of."""

import dataclasses
import math

import numpy as np
import pytest

from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate, scores
from elmo.lm.sums import KINDS, Perplexity, Sums, Tally
from elmo.text.vocabulary import SPECIAL_WORDS
from elmo.weights.checkpoint import Checkpoint

SENTENCES = [["the", "bank", "banks"], ["banking", "", "밥"]]


def test_each_kind_adds_up_its_own_predictions(model: EngineLanguageModel):
    found = evaluate(model, SENTENCES)
    expected = {kind: {"forward": [], "backward": []} for kind in KINDS}
    targets = {"the": "listed", "bank": "listed", "banks": "beginning", "banking": "beginning"}
    for score in scores(model, SENTENCES):
        values = score.to_dict()
        for direction in ("forward", "backward"):
            for token, nats in zip(score.sentence, values[direction], strict=True):
                expected[targets.get(token, "unknown")][direction].append(nats)
            expected["boundary"][direction].append(values[f"{direction}_boundary"])
    assert {kind: tally.count for kind, tally in found.kinds.items()} == {
        "listed": 2, "beginning": 2, "unknown": 2, "boundary": 2,
    }  # fmt: skip
    for kind, by_direction in expected.items():
        for direction, nats in by_direction.items():
            assert found.kinds[kind].nats[direction] == pytest.approx(sum(nats), abs=1e-3)
    assert found.num_unknown == 2
    assert found.num_predictions == 8


def test_a_beginning_is_predicted_where_the_token_is_not_listed(model: EngineLanguageModel, language_model: Checkpoint):
    score = next(scores(model, [["the", "banks"]]))
    assert (score.beginnings, score.unknown) == ([1], [])
    with_it_listed = dataclasses.replace(language_model, vocabulary=[*SPECIAL_WORDS, "the", "bank", "banks"])
    again = next(scores(EngineLanguageModel(with_it_listed), [["the", "banks"]]))
    assert (again.beginnings, again.unknown) == ([], [])
    for direction in ("forward", "backward"):
        assert score.nats[direction].tolist() == again.nats[direction].tolist()
    carried = next(scores(model, [["the", "banks"]], state="carry"))
    assert carried.nats["forward"].tolist() == pytest.approx(score.nats["forward"].tolist(), abs=1e-5)


def test_unknown_words_that_the_text_itself_marks_count_as_unknown(model: EngineLanguageModel):
    marked, plain = evaluate(model, [["the", "<UNK>", "bank"]]), evaluate(model, [["the", "zebra", "bank"]])
    assert marked.num_unknown == plain.num_unknown == 1
    assert {kind: tally.count for kind, tally in marked.kinds.items()} == {
        kind: tally.count for kind, tally in plain.kinds.items()
    }


def test_a_perplexity_that_no_float_holds_is_infinite():
    found = Perplexity({"forward": 8000.0}, 2, 1, 0, kinds={"listed": Tally({"forward": 8000.0}, 2)})
    assert found.of("forward") == found.to_dict()["listed_mean_perplexity"] == math.inf
    assert found.to_dict()["nats_per_token"] == 4000


def test_bits_per_character_count_a_space_or_line_end_after_each_token(model: EngineLanguageModel):
    found = evaluate(model, SENTENCES)
    text = "".join(" ".join(sentence) + "\n" for sentence in SENTENCES)
    assert found.num_characters == len(text)
    bits = sum(found.nats.values()) / 2 / math.log(2)
    assert found.bits_per_character == pytest.approx(bits / len(text))
    assert found.to_dict()["bits_per_character"] == found.bits_per_character


def test_the_dictionary_names_share_and_cost_of_each_kind(model: EngineLanguageModel):
    values = evaluate(model, SENTENCES).to_dict()
    assert values["unknown_share"] == values["beginning_share"] == pytest.approx(2 / 6)
    shares = [values[f"{kind}_share_of_nats"] for kind in KINDS]
    assert sum(shares) == pytest.approx(1)
    total = math.prod(values[f"{kind}_mean_perplexity"] ** 2 for kind in KINDS)
    assert total ** (1 / 8) == pytest.approx(values["mean_perplexity"], rel=1e-6)
    assert values["listed_forward_perplexity"] != values["listed_backward_perplexity"]


def test_what_a_text_does_not_have_is_left_out():
    tally = Tally({"forward": 4.0}, 2)
    none = Tally({"forward": 0.0}, 0)
    found = Perplexity({"forward": 4.0}, 2, 0, 0, kinds={"listed": tally, "unknown": none})
    assert none.perplexity("mean") is None
    assert tally.perplexity("forward") == pytest.approx(math.exp(2))
    assert set(found.to_dict()) == {
        "forward_perplexity", "mean_perplexity", "nats_per_token", "predictions", "sentences", "tokens",
        "unknown_share", "listed_share_of_nats", "listed_forward_perplexity", "listed_mean_perplexity",
    }  # fmt: skip


def test_sums_travel_as_one_vector():
    sums = Sums(("forward", "backward"))
    nats = {"forward": np.array([1.0, 2.0, 3.0]), "backward": np.array([4.0, 5.0, 6.0])}
    sums.add(["a", "밥"], np.array([0, 2]), nats)
    again = Sums.of_vector(sums.vector() * 2, sums.directions).perplexity()
    sums.add(["a", "밥"], np.array([0, 2]), nats)
    assert again == sums.perplexity()
    assert again.num_characters == 8
    assert again.kinds["unknown"] == Tally({"forward": 4.0, "backward": 10.0}, 2)
    assert again.kinds["boundary"] == Tally({"forward": 6.0, "backward": 12.0}, 2)
