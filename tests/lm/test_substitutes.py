"""Substitutes against the definition: each direction reads only its side, up to the place."""

import pytest
import torch

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.language_model import LanguageModel
from elmo.lm.substitutes import substitutes
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.tokenizer import marked

WORDS = ["<S>", "</S>", "<UNK>", "the", "bank", "was", "steep", "."]
SENTENCE = ["the", "bank", "was", "steep"]


def made(direction: str = "both") -> tuple[BiLM, LMHead]:
    torch.manual_seed(3)
    sizes = {"cell_size": 16, "projection_size": 8, "filters": ((1, 4), (2, 4)), "character_dim": 4, "num_highway": 1}
    return BiLM(BiLMConfig(**sizes, direction=direction)).eval(), LMHead(WORDS, 8).eval()


@pytest.fixture
def language_model() -> tuple[BiLM, LMHead]:
    return made()


@pytest.fixture(params=["torch", "engine"])
def model(request: pytest.FixtureRequest, language_model: tuple[BiLM, LMHead], on_engine) -> LanguageModel:
    return TorchLanguageModel(*language_model) if request.param == "torch" else on_engine(*language_model)


def by_hand(bilm: BiLM, head: LMHead, direction: str, read: list[str]) -> torch.Tensor:
    """Probabilities of the next word, token after token."""
    ids = torch.from_numpy(bilm.token_map.ids(read).characters)[None]
    lstm = getattr(bilm, f"{direction}_lstm")
    state = bilm.zero_state(1)
    hidden, cell = (part.chunk(len(bilm.lstms), dim=2)[0] for part in state)
    with torch.no_grad():
        for place in range(len(read)):
            outputs, hidden, cell = lstm(bilm.token_vectors(ids[:, place : place + 1]), torch.tensor([1]), hidden, cell)
        return torch.softmax(head.weight @ outputs[-1][0, 0] + head.bias, 0)


@pytest.mark.parametrize("place", range(4))
def test_each_direction_predicts_from_its_side_alone(language_model, model, place):
    found = substitutes(model, SENTENCE, place, count=3)
    read = {"forward": ["<S>", *SENTENCE[:place]], "backward": ["</S>", *reversed(SENTENCE[place + 1 :])]}
    assert list(found) == ["forward", "backward", "both"]
    chances = {direction: by_hand(*language_model, direction, side) for direction, side in read.items()}
    for values in chances.values():
        values[:3] = 0  # <S>, </S>, <UNK>: nothing to put in a place
    product = chances["forward"] * chances["backward"]
    chances["both"] = product / product.sum()
    for direction, prediction in found.items():
        expected = chances[direction]
        values, ids = expected.topk(3)
        assert [word for word, _ in prediction.best] == [WORDS[i] for i in ids]
        assert [value for _, value in prediction.best] == pytest.approx(values.tolist(), abs=1e-6)
        own = expected[WORDS.index(SENTENCE[place])]
        assert prediction.probability == pytest.approx(own.item(), abs=1e-6)
        assert prediction.rank == 1 + int((expected > own).sum())


def test_the_marked_word_plays_no_part(model):
    ours, other = (substitutes(model, ["the", word, "was"], 1, count=3) for word in ("bank", "zebra"))
    for direction in ours:
        assert [word for word, _ in ours[direction].best] == [word for word, _ in other[direction].best]
        assert (other[direction].probability, other[direction].rank) == (None, None)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_model_of_one_direction_has_no_product(direction):
    bilm, head = made(direction)
    found = substitutes(TorchLanguageModel(bilm, head), SENTENCE, 1, count=3)
    assert list(found) == [direction]
    read = {"forward": ["<S>", "the"], "backward": ["</S>", "steep", "was"]}[direction]
    expected = by_hand(bilm, head, direction, read)[3:]
    assert [value for _, value in found[direction].best] == pytest.approx(expected.topk(3).values.tolist(), abs=1e-6)


def test_no_more_words_are_given_than_there_are(model):
    found = substitutes(model, SENTENCE, 0, count=100)
    for prediction in found.values():
        assert sorted(word for word, _ in prediction.best) == sorted(WORDS[3:])
    assert sum(value for _, value in found["forward"].best) < 1
    assert sum(value for _, value in found["both"].best) == pytest.approx(1, abs=1e-6)
    unknown = substitutes(model, ["the", "<UNK>", "was"], 1)
    assert (unknown["forward"].probability, unknown["both"].rank) == (None, None)


@pytest.mark.parametrize(("place", "count"), [(4, 1), (-1, 1), (0, 0)])
def test_places_outside_and_counts_below_1_are_errors(model, place, count):
    with pytest.raises(ConfigError):
        substitutes(model, SENTENCE, place, count)


def test_a_mark_is_a_token_in_brackets():
    assert marked("The [bank] was [ steep ]") == (["The", "bank", "was", "[", "steep", "]"], 1)
    assert marked("a []") == (["a", ""], 1)
    assert marked("He sat by the [bank].") == (["He", "sat", "by", "the", "bank", "."], 4)
    assert marked('"[Banks]", he said') == (['"', "Banks", '"', ",", "he", "said"], 1)
    for text in ("", "no mark", "[two] [marks]", "[ ]", "a [b c] d"):
        with pytest.raises(ConfigError, match="exactly one place must be marked"):
            marked(text)
