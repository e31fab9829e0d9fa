"""The models that come with the package: whole, small, and they have learned."""

from pathlib import Path

import numpy as np
import pytest

from elmo import Embedder
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.weights import hub
from elmo.weights.native.read import read

NAMES = ("small-en", "small-ko")
TEXTS = {
    "small-en": """He was not a man to be easily frightened .
The government of the United States has a large number of offices .
She looked at him for a moment and then said that she did not know .""",
    "small-ko": """이 영화 정말 재미있다 .
지금까지 본 영화 중에 최고다 .
시간이 아깝다 .""",
}
SENTENCES = {name: [line.split() for line in text.splitlines()] for name, text in TEXTS.items()}


@pytest.mark.parametrize("name", NAMES)
def test_they_take_no_more_than_twenty_megabytes(name):
    assert sum(path.stat().st_size for path in Path(hub.resolve(name)).iterdir()) < 20e6


@pytest.mark.parametrize("name", NAMES)
def test_they_have_everything_a_model_folder_can_have(name):
    checkpoint = read(Path(hub.resolve(name)))
    assert checkpoint.softmax is not None and checkpoint.warm_state is not None
    assert checkpoint.vocabulary[:3] == ["<S>", "</S>", "<UNK>"]
    card = (Path(hub.resolve(name)) / "README.md").read_text(encoding="utf-8")
    for word in ("Perplexity", "Kneser-Ney", "licence", "CC BY-SA 4.0", f"runs/bundled_models/{name}.sh"):
        assert word in card


@pytest.mark.parametrize("name", NAMES)
def test_they_have_learned_their_language(name):
    model, sentences = EngineLanguageModel(read(Path(hub.resolve(name)))), SENTENCES[name]
    turned = [sentence[::-1] for sentence in sentences]
    assert evaluate(model, sentences).of("mean") < 100
    assert evaluate(model, sentences).of("mean") < evaluate(model, turned).of("mean") / 10


def test_a_syllable_more_is_another_word_and_no_unknown_one():
    plain, past = Embedder.from_pretrained("small-ko").embed([["먹다"], ["먹었다"]])
    assert not np.allclose(plain[0], past[0])


def test_context_moves_a_words_upper_layers_and_not_its_lowest():
    money, debt, river = (
        array[:, 4]
        for array in Embedder.from_pretrained().embed(
            [
                "He went to the bank to get money .",
                "He went to the bank to pay a debt .",
                "He went to the bank of a river .",
            ]
        )
    )
    assert np.array_equal(money[0], debt[0]) and np.array_equal(money[0], river[0])

    def near(one: np.ndarray, other: np.ndarray) -> float:
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    for layer in (1, 2):
        assert near(money[layer], debt[layer]) > near(money[layer], river[layer]) + 0.02


def test_every_state_policy_works_with_it():
    sentence = SENTENCES["small-en"][0]
    zero, warm, carry = (
        Embedder.from_pretrained(state=state).embed([sentence])[0] for state in ("zero", "warm", "carry")
    )
    assert np.array_equal(zero[0], warm[0])
    assert not np.array_equal(zero[2], warm[2])
    np.testing.assert_allclose(zero, carry, atol=1e-5)
