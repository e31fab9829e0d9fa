"""A training step: its gradients against plain autograd, its memory, its repeatability."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops.projected_lstm.reference import step as lstm_step
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.direction import DirectionWindow
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.trainer import Trainer


def _plain_loss(trainer: Trainer, direction: str, vectors: torch.Tensor, window: DirectionWindow) -> torch.Tensor:
    """The specification's words, one by one, for autograd: no gathered rows, no own backward, no dropout."""
    lstm = getattr(trainer.bilm, f"{direction}_lstm")
    inputs = vectors[window.places]
    for index, layer in enumerate(lstm.layers):
        hidden, cell, outputs = window.hidden[index], window.cell[index], []
        for t in range(len(inputs)):
            keep = 1.0 if window.keep is None else window.keep[t, :, None]
            hidden, cell = lstm_step(inputs[t], hidden * keep, cell * keep, layer.weights, lstm.settings)
            outputs.append(hidden)
        inputs = torch.stack(outputs) + (inputs if index > 0 else 0)
    top, targets = inputs.flatten(0, 1), window.target_ids.flatten()
    logits = top @ trainer.head.weight.t() + trainer.head.bias
    everyone = torch.arange(len(trainer.head.vocabulary))
    logits = logits - trainer.sampler.log_chance(everyone, window.negatives.num_draws)
    allowed = torch.zeros(len(targets), len(everyone), dtype=torch.bool)
    allowed[:, window.negatives.ids] = True
    allowed[torch.arange(len(targets)), targets] = True
    return functional.cross_entropy(logits.masked_fill(~allowed, -torch.inf), targets)


def _inputs_of(trainer: Trainer) -> tuple[torch.Tensor, dict[str, DirectionWindow]]:
    windows = {direction: stream.next() for direction, stream in trainer.streams.items()}
    inputs = np.stack([window.inputs for window in windows.values()])
    types, places = np.unique(inputs, return_inverse=True)
    tasks = trainer._tasks(1, windows, torch.from_numpy(places.reshape(inputs.shape)))
    return torch.from_numpy(np.asarray(trainer.data.type_characters[types])), dict(zip(windows, tasks, strict=True))


def test_a_steps_gradients_equal_autograd_of_the_plain_loss(data: TrainingData, recipe: PretrainConfig) -> None:
    trainer = Trainer(replace(recipe, dropout=0.0), data)
    characters, tasks = _inputs_of(trainer)
    vectors = trainer.bilm.token_vectors(characters)
    losses = {direction: _plain_loss(trainer, direction, vectors, task) for direction, task in tasks.items()}
    total = recipe.unroll_steps * sum(losses.values()) / 2
    expected = torch.autograd.grad(total, list(trainer.named_parameters.values()))

    vectors = trainer.bilm.token_vectors(characters)
    results = {direction: trainer._learn(vectors, direction, task) for direction, task in tasks.items()}
    trainer._gather(vectors, results)
    for direction, loss in losses.items():
        assert results[direction].loss == pytest.approx(loss.item(), rel=1e-5)
    for (name, parameter), gradient in zip(trainer.named_parameters.items(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=2e-4, atol=2e-5, msg=lambda text, n=name: f"{n}: {text}")


def test_two_runs_with_one_seed_are_bit_identical(data: TrainingData, recipe: PretrainConfig) -> None:
    first, second = Trainer(recipe, data), Trainer(recipe, data)
    for _ in range(4):
        assert first.step() == second.step()
    for one, other in zip(first.named_parameters.values(), second.named_parameters.values(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("optimizer", ["adagrad", "adamw"])
def test_a_restored_trainer_goes_on_bit_for_bit(data: TrainingData, recipe: PretrainConfig, optimizer: str) -> None:
    config = replace(recipe, optimizer=optimizer, learning_rate=0.01, warmup_steps=3, decay="linear")
    trainer = Trainer(config, data)
    for _ in range(3):
        trainer.step()
    weights = {name: parameter.detach().clone() for name, parameter in trainer.named_parameters.items()}
    tensors = {name: tensor.clone() for name, tensor in trainer.tensors().items()}
    progress = trainer.progress_state()
    expected = [trainer.step() for _ in range(4)]
    other = Trainer(replace(config, seed=config.seed), data)
    other.restore(weights, tensors, progress)
    assert [other.step() for _ in range(4)] == expected


def test_the_padding_character_stays_zero_and_the_loss_falls(data: TrainingData, recipe: PretrainConfig) -> None:
    trainer = Trainer(replace(recipe, optimizer="adamw", learning_rate=0.03, epochs=60, dropout=0.0), data)
    losses = [trainer.step().loss for _ in range(150)]
    assert trainer.bilm.token_encoder.character_embedding[0].eq(0).all()
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_bfloat16_products_change_the_loss_little(data: TrainingData, recipe: PretrainConfig) -> None:
    exact, rounded = Trainer(recipe, data), Trainer(replace(recipe, product_dtype="bfloat16"), data)
    assert rounded.step().loss == pytest.approx(exact.step().loss, rel=0.01)


def test_state_is_forgotten_only_where_a_sentence_begins(data: TrainingData, recipe: PretrainConfig) -> None:
    trainer = Trainer(replace(recipe, state_reset=1.0), data)
    windows = {direction: stream.next() for direction, stream in trainer.streams.items()}
    places = torch.zeros(2, recipe.unroll_steps, recipe.batch_size, dtype=torch.int64)
    forward, backward = trainer._tasks(1, windows, places)
    assert np.array_equal(forward.keep.numpy() == 0, windows["forward"].inputs == 0)
    assert np.array_equal(backward.keep.numpy() == 0, windows["backward"].inputs == 1)


def test_more_negatives_than_words_are_refused(data: TrainingData, recipe: PretrainConfig) -> None:
    with pytest.raises(ConfigError, match="num_negative_samples is 9999"):
        Trainer(replace(recipe, num_negative_samples=9999), data)


def test_the_run_ends_after_its_epochs(data: TrainingData, recipe: PretrainConfig) -> None:
    trainer = Trainer(recipe, data)
    tokens = data.num_tokens("train") + data.num_sentences("train")
    assert trainer.tokens_per_epoch == tokens
    assert (trainer.last_step - 1) * 12 < 3 * tokens <= trainer.last_step * 12
    assert Trainer(replace(recipe, max_steps=2), data).last_step == 2
