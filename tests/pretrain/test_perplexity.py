"""Perplexity against brute force: one sentence, one token, one softmax at a time."""

import math

import pytest
import torch

from elmo.errors import TextError
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.perplexity import evaluate, scores
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.trainer import Trainer

SENTENCES = [["the", "cat", "sat"], ["zebra"], ["the", "bank", "of", "the", "river", "밥"], ["a"]]


def _brute_force(trainer: Trainer, sentence: list[str]) -> dict[str, list[float]]:
    vocabulary = {word: index for index, word in enumerate(trainer.head.vocabulary)}
    words = ["<S>", *sentence, "</S>"]
    ids = torch.from_numpy(trainer.bilm.token_map.ids(words).characters)[None]
    found: dict[str, list[float]] = {}
    for direction, order in (("forward", list(range(len(words)))), ("backward", list(reversed(range(len(words)))))):
        lstm = getattr(trainer.bilm, f"{direction}_lstm")
        state = trainer.bilm.zero_state(1)
        hidden, cell = state.hidden.chunk(2, dim=2)[0], state.cell.chunk(2, dim=2)[0]
        nats = []
        for here, following in zip(order, order[1:], strict=False):
            vector = trainer.bilm.token_vectors(ids[:, here : here + 1])
            outputs, hidden, cell = lstm(vector, torch.tensor([1]), hidden, cell)
            logits = outputs[-1][0, 0] @ trainer.head.weight.t() + trainer.head.bias
            target = vocabulary.get(words[following], vocabulary["<UNK>"])
            nats.append(-math.log(torch.softmax(logits, 0)[target].item()))
        found[direction] = nats
    return found


@pytest.fixture
def trainer(data: TrainingData, recipe: PretrainConfig) -> Trainer:
    trainer = Trainer(recipe, data)
    for _ in range(3):
        trainer.step()
    return trainer


def test_each_prediction_equals_brute_force(trainer: Trainer) -> None:
    for sentence, score in zip(SENTENCES, scores(trainer.bilm, trainer.head, SENTENCES), strict=True):
        for direction, expected in _brute_force(trainer, sentence).items():
            assert score.nats[direction].tolist() == pytest.approx(expected, abs=1e-4)


def test_perplexity_counts_every_token_once_whatever_the_batches(trainer: Trainer) -> None:
    expected = [_brute_force(trainer, sentence) for sentence in SENTENCES]
    for max_tokens in (1, 12, 4096):
        found = evaluate(trainer.bilm, trainer.head, SENTENCES, max_tokens=max_tokens)
        assert found.num_predictions == sum(len(sentence) + 1 for sentence in SENTENCES)
        for direction in ("forward", "backward"):
            nats = sum(sum(score[direction]) for score in expected)
            assert found.of(direction) == pytest.approx(math.exp(nats / found.num_predictions), rel=1e-4)
        assert found.of("mean") == pytest.approx(math.sqrt(found.of("forward") * found.of("backward")), rel=1e-9)


def test_unknown_words_are_counted(trainer: Trainer) -> None:
    found = evaluate(trainer.bilm, trainer.head, SENTENCES).to_dict()
    assert found["unknown_share"] == pytest.approx(1 / 11)
    assert found["tokens"] == 11


def test_a_text_without_sentences_is_an_error(trainer: Trainer) -> None:
    with pytest.raises(TextError, match="there is no sentence to evaluate"):
        evaluate(trainer.bilm, trainer.head, [[]])
