"""A training step: its gradients against plain autograd, its memory, its repeatability."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops.adaptive_softmax import adaptive_log_probabilities
from elmo.ops.projected_lstm.reference import step as lstm_step
from elmo.pretrain.ranks.gradients import RowGradient
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.direction import DirectionWindow
from elmo.pretrain.step.plan import StepPlan
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import restore, tensors_of

# What a run can be beside the paper's recipe.
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "full softmax": {"softmax": "full"},
    "adaptive softmax": {"softmax": "adaptive", "softmax_cutoffs": (8, 15), "softmax_divisor": 2},
    "forward": {"direction": "forward"},
    "backward, full softmax": {"direction": "backward", "softmax": "full"},
    "words": {"characters": "none"},
    "narrow words": {"characters": "none", "word_dim": 5},
    "tied words": {"characters": "none", "tie_softmax": True},
    "tied words, full softmax": {"characters": "none", "tie_softmax": True, "softmax": "full"},
    "words beside characters": {"word_dim": 5},
    "dictionary": {"characters": "dictionary"},
    "dictionary of 5, forward": {"characters": "dictionary", "max_character_dictionary": 5, "direction": "forward"},
    "no LSTM projection": {"cell_size": 8, "cell_clip": 0.0, "skip_connections": False},
    "adamw, tied words": {"characters": "none", "tie_softmax": True, "optimizer": "adamw"},
    "lazy adamw, tied words": {"characters": "none", "tie_softmax": True, "optimizer": "adamw", "lazy_rows": True},
    "sgd, words": {"characters": "none", "optimizer": "sgd"},
}


@pytest.fixture(params=VARIANTS)
def variant(recipe: PretrainConfig, request: pytest.FixtureRequest) -> PretrainConfig:
    """Every kind of run in turn."""
    return replace(recipe, **VARIANTS[request.param])


def _plain_logits(trainer: Trainer, top: torch.Tensor) -> torch.Tensor:
    head = trainer.head
    if trainer.config.softmax == "adaptive":
        return adaptive_log_probabilities(top, head.adaptive_weights())
    tied = trainer.config.tie_softmax
    weight = trainer.bilm.token_encoder.word_embedding[1:] if tied else head.weight
    return top @ weight.t() + head.bias


def _plain_loss(trainer: Trainer, direction: str, vectors: torch.Tensor, window: DirectionWindow) -> torch.Tensor:
    """The specification's words, one by one, for autograd: no gathered rows, no own backward, no dropout."""
    lstm = getattr(trainer.bilm, f"{direction}_lstm")
    plan = window.plan
    inputs = vectors[plan.places]
    for index, layer in enumerate(lstm.layers):
        hidden, cell, outputs = window.hidden[index], window.cell[index], []
        for t in range(len(inputs)):
            keep = 1.0 if plan.keep is None else plan.keep[t, :, None]
            hidden, cell = lstm_step(inputs[t], hidden * keep, cell * keep, layer.weights, layer.settings)
            outputs.append(hidden)
        inputs = torch.stack(outputs) + (inputs if lstm.skip_connections and index > 0 else 0)
    top, targets = inputs.flatten(0, 1), plan.target_ids.flatten()
    logits = _plain_logits(trainer, top)
    if trainer.sampler is None or plan.sampled is None:
        assert trainer.config.softmax != "sampled"
        return functional.cross_entropy(logits, targets)
    everyone = torch.arange(len(trainer.head.vocabulary))
    logits = logits - trainer.sampler.log_probability(everyone, plan.sampled.negatives.num_draws)
    allowed = torch.zeros(len(targets), len(everyone), dtype=torch.bool)
    allowed[:, plan.sampled.negatives.ids] = True
    allowed[torch.arange(len(targets)), targets] = True
    return functional.cross_entropy(logits.masked_fill(~allowed, -torch.inf), targets)


def _inputs_of(trainer: Trainer) -> tuple[StepPlan, dict[str, DirectionWindow]]:
    plan = trainer.planner.take(1)
    return plan, {direction: trainer._window(direction, one) for direction, one in plan.directions.items()}


def test_a_steps_gradients_equal_autograd_of_the_plain_loss(data, variant):
    trainer = Trainer(replace(variant, dropout=0.0), data)
    plan, tasks = _inputs_of(trainer)
    words = data.types()
    vectors = trainer.bilm.vectors_of([words[number] for number in plan.types])
    losses = {direction: _plain_loss(trainer, direction, vectors, task) for direction, task in tasks.items()}
    total = variant.unroll_steps * sum(losses.values()) / len(losses)
    expected = torch.autograd.grad(total, list(trainer.named_parameters.values()))

    vectors, word_rows = trainer._token_vectors(plan.characters, plan.words)
    results = {direction: trainer._learn(vectors, direction, task) for direction, task in tasks.items()}
    found = trainer._gather(vectors, word_rows, results)
    assert list(results) == list(trainer.bilm.config.directions)
    for direction, loss in losses.items():
        assert results[direction].loss.item() == pytest.approx(loss.item(), rel=1e-5)
    for (name, parameter), gradient in zip(trainer.named_parameters.items(), expected, strict=True):
        own = found[name].whole(parameter) if isinstance(found[name], RowGradient) else found[name]
        torch.testing.assert_close(own, gradient, rtol=2e-4, atol=2e-5, msg=lambda text, n=name: f"{n}: {text}")


@pytest.mark.parametrize("optimizer", ["adagrad", "sgd"])
@pytest.mark.parametrize("kind", ["paper", "tied words", "words beside characters"])
def test_updates_of_rows_leave_what_updates_of_whole_tables_leave_bit_for_bit(data, recipe, kind, optimizer):
    config = replace(recipe, **VARIANTS[kind], optimizer=optimizer, clip_norm=1e9)
    by_row, whole = Trainer(config, data), Trainer(config, data)
    assert by_row.updates_rows
    whole.updates_rows = False
    for _ in range(3):
        by_row.step()
        whole.step()
    for name, parameter in by_row.named_parameters.items():
        assert torch.equal(parameter, whole.named_parameters[name]), name
    others = tensors_of(whole)
    assert all(torch.equal(tensor, others[name]) for name, tensor in tensors_of(by_row).items())


def test_the_clip_is_over_all_variables_also_where_rows_are_updated(data, recipe):
    config = replace(recipe, clip_norm=0.01, optimizer="sgd", learning_rate=1.0)
    by_row, whole = Trainer(config, data), Trainer(config, data)
    whole.updates_rows = False
    before = {name: parameter.detach().clone() for name, parameter in by_row.named_parameters.items()}
    assert by_row.step().gradient_norm == pytest.approx(whole.step().gradient_norm, rel=1e-6)
    moved = torch.stack([(parameter - before[name]).norm() for name, parameter in by_row.named_parameters.items()])
    assert moved.norm().item() == pytest.approx(0.01, rel=1e-4)  # all gradients together, at a rate of 1


def test_the_tied_softmax_is_the_words_vectors_after_steps_and_a_restoration(data, recipe):
    trainer = Trainer(replace(recipe, **VARIANTS["tied words"]), data)
    assert "head.weight" not in trainer.named_parameters
    for _ in range(2):
        trainer.step()
    table = trainer.bilm.token_encoder.word_embedding
    assert torch.equal(trainer.head.weight, table[1:])
    assert table[0].eq(0).all()
    other = Trainer(replace(trainer.config, seed=9), data)
    weights = {name: parameter.detach() + 1 for name, parameter in trainer.named_parameters.items()}
    restore(other, weights, tensors_of(trainer), trainer.position)
    assert torch.equal(other.head.weight, table[1:] + 1)


def test_weights_of_another_model_are_refused(data, recipe):
    trainer = Trainer(recipe, data)
    tensors, progress = tensors_of(trainer), trainer.position
    weights = dict(trainer.named_parameters)
    adaptive = Trainer(replace(recipe, **VARIANTS["adaptive softmax"]), data)
    with pytest.raises(ConfigError, match=r"'head.weight' has shape .* but this run's has shape \(10, 8\)"):
        restore(adaptive, weights, tensors, progress)
    with pytest.raises(ConfigError, match="'bilm.token_encoder.word_embedding' is missing"):
        restore(Trainer(replace(recipe, word_dim=5), data), weights, tensors, progress)


def test_two_runs_with_one_seed_are_bit_identical(data, variant):
    first, second = Trainer(variant, data), Trainer(variant, data)
    for _ in range(4):
        assert first.step() == second.step()
    for one, other in zip(first.named_parameters.values(), second.named_parameters.values(), strict=True):
        assert torch.equal(one, other)


def test_a_restored_trainer_goes_on_bit_for_bit(data, variant):
    config = replace(variant, learning_rate=0.01, warmup_steps=3, decay="linear")
    trainer = Trainer(config, data)
    for _ in range(2):
        trainer.step()
    weights = {name: parameter.detach().clone() for name, parameter in trainer.named_parameters.items()}
    tensors = {name: tensor.clone() for name, tensor in tensors_of(trainer).items()}
    progress = trainer.position
    expected = [trainer.step() for _ in range(3)]  # beyond the warm-up
    other = Trainer(replace(config, seed=config.seed), data)
    restore(other, weights, tensors, progress)
    assert [other.step() for _ in range(3)] == expected


def test_the_padding_character_stays_zero_and_the_loss_falls(data, recipe):
    adamw = {"optimizer": "adamw", "learning_rate": 0.03, "epochs": 60}
    trainer = Trainer(replace(recipe, **adamw, dropout=0.0, state_reset=0.0), data)
    losses = [trainer.step().loss for _ in range(60)]
    assert trainer.bilm.token_encoder.character_embedding[0].eq(0).all()
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])


def test_bfloat16_products_change_the_loss_little(data, variant):
    exact, rounded = Trainer(variant, data), Trainer(replace(variant, product_dtype="bfloat16"), data)
    assert rounded.step().loss == pytest.approx(exact.step().loss, rel=0.01)


def test_state_is_forgotten_only_where_a_sentence_begins(data, recipe):
    trainer = Trainer(replace(recipe, state_reset=1.0), data)
    plan = trainer.planner.take(1)
    for direction, boundary in (("forward", 0), ("backward", 1)):
        own = plan.directions[direction]
        assert np.array_equal(own.keep.numpy() == 0, plan.types[own.places.numpy()] == boundary)


def test_the_run_ends_after_its_epochs(data, recipe):
    trainer = Trainer(recipe, data)
    tokens = data.num_tokens("train") + data.num_sentences("train")
    assert trainer.tokens_per_epoch == tokens
    assert (trainer.last_step - 1) * 12 < 3 * tokens <= trainer.last_step * 12
    assert Trainer(replace(recipe, max_steps=2), data).last_step == 2
