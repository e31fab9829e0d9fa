"""Perplexity against brute force: one sentence, one token, one softmax at a time."""

import json
import math

import pytest
import torch

from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError, TextError
from elmo.lm.in_torch import TorchLanguageModel
from elmo.lm.language_model import LanguageModel
from elmo.lm.perplexity import contiguous_parts, evaluate, scores, total
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer


@pytest.fixture
def bilm_tf(load_script):
    """`runs/quality/bilm_tf_perplexity.py`."""
    return load_script("runs/quality/bilm_tf_perplexity.py")


SENTENCES = [["the", "cat", "sat"], ["zebra"], ["the", "bank", "of", "the", "river", "밥"], ["a"]]


def _brute_force(trainer: Trainer, sentence: list[str]) -> dict[str, list[float]]:
    return {name: _carried_brute_force(trainer, name, [[sentence]])[0] for name in ("forward", "backward")}


@pytest.fixture
def trainer(data: TrainingData, recipe: PretrainConfig) -> Trainer:
    trainer = Trainer(recipe, data)
    for _ in range(3):
        trainer.step()
    return trainer


@pytest.fixture(params=["torch", "engine"])
def model(request: pytest.FixtureRequest, trainer: Trainer, on_engine) -> LanguageModel:
    made = TorchLanguageModel if request.param == "torch" else on_engine
    return made(trainer.bilm, trainer.head)


def test_each_prediction_equals_brute_force(trainer, model):
    for sentence, score in zip(SENTENCES, scores(model, SENTENCES), strict=True):
        for direction, expected in _brute_force(trainer, sentence).items():
            assert score.nats[direction].tolist() == pytest.approx(expected, abs=1e-4)


def test_perplexity_counts_every_token_once_whatever_the_batches(trainer, model, monkeypatch):
    expected = [_brute_force(trainer, sentence) for sentence in SENTENCES]
    for max_tokens in (1, 12, 4096):
        monkeypatch.setattr("elmo.lm.perplexity._BATCH_TOKENS", max_tokens)
        found = evaluate(model, SENTENCES)
        assert found.num_predictions == sum(len(sentence) + 1 for sentence in SENTENCES)
        for direction in ("forward", "backward"):
            nats = sum(sum(score[direction]) for score in expected)
            assert found.of(direction) == pytest.approx(math.exp(nats / found.num_predictions), rel=1e-4)
        assert found.of("mean") == pytest.approx(math.sqrt(found.of("forward") * found.of("backward")), rel=1e-9)


def test_a_state_that_does_not_exist_is_refused(model):
    with pytest.raises(ConfigError, match=r"state must be one of 'zero', 'carry' .got 'Carry'."):
        evaluate(model, SENTENCES, state="Carry")


def test_a_text_without_sentences_is_an_error(model):
    with pytest.raises(TextError, match="there is no sentence to evaluate"):
        evaluate(model, [[]])


def _carried_brute_force(trainer: Trainer, direction: str, rows: list[list[list[str]]]) -> list[list[float]]:
    """Row after row, token after token; the sentences of a row as they are read, the state never forgotten."""
    vocabulary = {word: index for index, word in enumerate(trainer.head.vocabulary)}
    found = []
    for row in rows:
        state = trainer.bilm.zero_state(1)
        hidden, cell = state.hidden.chunk(2, dim=2)[0], state.cell.chunk(2, dim=2)[0]
        nats = []
        for sentence in row:
            words = ["<S>", *sentence, "</S>"]
            words = words if direction == "forward" else words[::-1]
            for here, following in zip(words, words[1:], strict=False):
                vector = trainer.bilm.vectors_of([here])[None]
                lstm = getattr(trainer.bilm, f"{direction}_lstm")
                outputs, hidden, cell = lstm(vector, torch.tensor([1]), hidden, cell)
                logits = outputs[-1][0, 0] @ trainer.head.weight.t() + trainer.head.bias
                target = vocabulary.get(following, vocabulary["<UNK>"])
                nats.append(-math.log(torch.softmax(logits, 0)[target].item()))
        found.append(nats)
    return found


@pytest.mark.parametrize("max_tokens", [1, 5, 4096])
def test_a_carried_state_goes_through_each_part_from_its_beginning_or_its_end(trainer, model, max_tokens, monkeypatch):
    monkeypatch.setattr("elmo.lm.carried._WINDOW_TOKENS", max_tokens)
    parts = contiguous_parts(SENTENCES, 2)
    assert parts == [SENTENCES[:3], SENTENCES[3:]] or parts == [SENTENCES[:2], SENTENCES[2:]]
    found = list(scores(model, SENTENCES, state="carry", rows=2))
    assert [score.sentence for score in found] == SENTENCES
    forward = [nats for row in _carried_brute_force(trainer, "forward", parts) for nats in row]
    assert [nats for score in found for nats in score.nats["forward"]] == pytest.approx(forward, abs=1e-4)
    turned = [part[::-1] for part in parts]
    read = zip(turned, _carried_brute_force(trainer, "backward", turned), strict=True)
    backward = {}
    for part, nats in read:
        for sentence in part:
            backward[tuple(sentence)], nats = nats[: len(sentence) + 1], nats[len(sentence) + 1 :]
    for score in found:
        assert score.nats["backward"].tolist() == pytest.approx(backward[tuple(score.sentence)], abs=1e-4)


def test_carrying_drops_nothing_and_one_part_for_each_sentence_is_a_zero_state(model):
    carried = evaluate(model, [*SENTENCES, []], state="carry")
    zero = evaluate(model, SENTENCES)
    assert carried.num_predictions == zero.num_predictions
    assert carried.of("mean") == pytest.approx(zero.of("mean"), rel=1e-5)
    with pytest.raises(ConfigError, match="batch_size must be at least 1 .got 0"):
        next(scores(model, SENTENCES, state="carry", rows=0))
    with pytest.raises(TextError, match="there is no sentence"):
        evaluate(model, [], state="carry")


def test_rows_pull_sentences_as_the_specification_tells(bilm_tf):
    # One row, "a b c" and "d": (c S d) -> (</S> d </S>) in 6.2, so six predictions and nothing dropped.
    assert bilm_tf.fill_rows([4, 2], 1) == ([[0, 1]], 6)
    # Two rows, each sentence of two words: the third sentence goes to the row that is free first, the first one.
    assert bilm_tf.fill_rows([3, 3, 3], 2) == ([[0, 2], [1]], 3)
    assert bilm_tf.fill_rows([1, 5, 2, 2], 2) == ([[0, 2, 3], [1]], 5)
    assert bilm_tf.fill_rows([4], 2) == ([[0], []], 0)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_the_protocol_of_bilm_tf_equals_its_steps(trainer, model, batch_size, bilm_tf, monkeypatch):
    monkeypatch.setattr("elmo.lm.carried._WINDOW_TOKENS", 4)
    text = [*SENTENCES, [], ["the", "cat"], ["a", "dog", "sat"]]
    found = bilm_tf.evaluate_like_bilm_tf(model, text, batch_size=batch_size)
    expected = {
        direction: _bilm_tf_steps(trainer, direction, text, batch_size) for direction in ("forward", "backward")
    }
    steps = [sum(both) / 2 for both in zip(*expected.values(), strict=True)]
    assert found.num_steps == len(steps)
    assert found.measured.of("mean") == pytest.approx(math.exp(sum(steps) / len(steps)), rel=1e-4)
    assert found.measured.of("forward") == pytest.approx(math.exp(sum(expected["forward"]) / len(steps)), rel=1e-4)
    possible = sum(len(sentence) + 1 for sentence in text)
    assert found.dropped_predictions == possible - len(steps) * batch_size
    assert (found.dropped_sentences == 0) == (found.dropped_predictions == 0)
    assert found.to_dict()["tokens"] == len(steps) * batch_size - (len(text) - found.dropped_sentences)


def _bilm_tf_steps(trainer: Trainer, direction: str, text: list[list[str]], batch_size: int) -> list[float]:
    """bilm-tf's program, slowly: each step's mean over the rows, until a row finds no sentence."""
    waiting = iter(text)
    pulled: list[list[list[str]]] = [[] for _ in range(batch_size)]
    left = [0] * batch_size
    steps = 0
    try:
        while True:
            for row in range(batch_size):
                if left[row] == 0:
                    pulled[row].append(next(waiting))
                    left[row] = len(pulled[row][-1]) + 1
                left[row] -= 1
            steps += 1
    except StopIteration:
        nats = _carried_brute_force(trainer, direction, pulled)
        return [sum(row[step] for row in nats) / batch_size for step in range(steps)]


def test_a_text_shorter_than_the_rows_has_no_number_of_bilm_tf(model, bilm_tf):
    with pytest.raises(TextError, match="the text has 4 sentences, but 256 rows need one each.*--batch-size 2"):
        bilm_tf.evaluate_like_bilm_tf(model, SENTENCES)
    with pytest.raises(ConfigError, match="batch_size must be at least 1 .got 0"):
        bilm_tf.evaluate_like_bilm_tf(model, SENTENCES, batch_size=0)


def test_tokens_have_their_scores_in_the_order_of_the_text(trainer, model):
    score = list(scores(model, SENTENCES))[2]
    expected = _brute_force(trainer, SENTENCES[2])
    values = score.to_dict()
    assert values["tokens"] == SENTENCES[2]
    assert values["unknown"] == [
        place for place, word in enumerate(SENTENCES[2]) if word not in trainer.head.vocabulary
    ]
    assert values["forward"] == pytest.approx(expected["forward"][:-1], abs=1e-4)
    assert values["backward"] == pytest.approx(expected["backward"][-2::-1], abs=1e-4)
    assert values["forward_boundary"] == pytest.approx(expected["forward"][-1], abs=1e-4)
    assert values["backward_boundary"] == pytest.approx(expected["backward"][-1], abs=1e-4)


def test_a_large_vocabulary_goes_through_few_targets_at_a_time(trainer, monkeypatch):
    model = TorchLanguageModel(trainer.bilm, trainer.head)
    expected = evaluate(model, SENTENCES)
    monkeypatch.setattr("elmo.model.lm_head._LOGITS_BYTES", 1)
    monkeypatch.setattr("elmo.model.lm_head._LEAST_TARGETS", 3)
    polls = []
    found = total(scores(model, SENTENCES, poll=lambda: polls.append(1)))
    assert len(polls) > 2 * found.num_predictions / 3  # of both directions
    assert found.of("mean") == pytest.approx(expected.of("mean"), rel=1e-6)


def test_the_script_of_bilm_tfs_protocol_prints_its_figures(bilm_tf, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("the bank was steep .\n\nthe bank\n", encoding="utf-8")
    assert bilm_tf.main(["small-en", str(tmp_path / "text.txt"), "--batch-size", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["protocol"], found["predictions"], found["dropped_sentences"]) == ("bilm-tf", 10, 0)
    assert bilm_tf.main(["small-en", str(tmp_path / "text.txt")]) == 2
    assert "256 rows need one each" in capsys.readouterr().err
