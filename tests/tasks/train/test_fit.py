"""Training: it learns, it ends early, and whatever interrupts it changes nothing."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import ConfigError, Interrupted, WeightFileError
from elmo.tasks.ner.data import NerSettings, TaggerSettings
from elmo.tasks.ner.task import TASK
from elmo.tasks.settings import FitSettings, TokenSettings
from elmo.tasks.tokens.representation import TokenRepresentation
from elmo.tasks.train import fit as fit_module
from elmo.tasks.train.apply import predict_all, predict_and_loss
from elmo.tasks.train.batches import BatchLimits, shuffled_batches, sorted_batches
from elmo.tasks.train.fit import Fitted, TrainingFailed, fit
from elmo.tasks.train.fit_folder import FitFolder
from elmo.tasks.train.optimizers import Learner, WeightAverage, make_optimizer, rate_at
from elmo.tasks.train.task_data import share_of

SETTINGS = FitSettings(epochs=4, patience=0, batch_size=8, learning_rate=0.02)


def tagger(sentences):
    torch.manual_seed(3)
    vocabulary = TASK.vocabulary(sentences, NerSettings())
    settings = TaggerSettings(hidden_sizes=(8,), character_filters=12, dropout=0.2)
    network = TASK.build(NerSettings(tagger=settings), vocabulary, TokenRepresentation(TokenSettings("none")))
    return network.train()


def run(folder: Path, train, dev, settings: FitSettings = SETTINGS, **more) -> tuple[Fitted, dict, list[dict]]:
    """How it ended, the weights, and metrics.jsonl without times."""
    model = tagger(train)
    fitted = fit(model, TASK, train, dev, settings, folder, seed=5, **more)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"], line["scoring_seconds"], line["examples_per_second"]
    return fitted, model.state_dict(), lines


@pytest.fixture
def whole(train_sentences, dev_sentences, tmp_path_factory):
    """What `run` gives without an interruption, made once for each of the settings."""

    def whole(settings: FitSettings = SETTINGS) -> tuple:
        if settings not in WHOLE:
            WHOLE[settings] = run(tmp_path_factory.mktemp("whole"), train_sentences, dev_sentences, settings)
        return WHOLE[settings]

    return whole


WHOLE: dict[FitSettings, tuple] = {}


def assert_same(one, other) -> None:
    assert one[0] == other[0]
    assert one[2] == other[2]
    for name, tensor in one[1].items():
        assert torch.equal(tensor, other[1][name]), name


def test_a_tagger_learns_what_stands_in_the_words(tmp_path, train_sentences, dev_sentences):
    settings = FitSettings(epochs=15, patience=0, batch_size=8, learning_rate=0.03)
    fitted, _, lines = run(tmp_path, train_sentences, dev_sentences, settings)
    assert lines[fitted.best_epoch - 1]["dev"]["f1"] > 95
    assert lines[-1]["loss"] < lines[0]["loss"] / 10


@pytest.mark.parametrize(
    ("looks", "changes"),
    [
        *((looks, {"decay": "linear"}) for looks in (0, 7, 11)),  # 11: while it is scored
        *((looks, {"average_decay": 0.9}) for looks in (7, 11, 22)),
        *((looks, {"epochs": 2, "epoch_passes": 2}) for looks in (5, 9)),
        *((2, {"epochs": 2, "optimizer": name}) for name in ("adamw", "adadelta", "adagrad", "sgd")),
    ],
)
def test_a_stopped_training_goes_on_bit_for_bit(
    tmp_path, train_sentences, dev_sentences, whole, looks, changes, stop_after
):
    settings = replace(SETTINGS, **changes)
    with pytest.raises(Interrupted, match="Continue with the same command and --resume"):
        run(tmp_path / "cut", train_sentences, dev_sentences, settings, flag=stop_after(looks))
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", train_sentences, dev_sentences, settings, flag=stop_after(5))
    assert_same(run(tmp_path / "cut", train_sentences, dev_sentences, settings), whole(settings))


def test_the_average_of_the_weights_is_scored_and_kept(tmp_path, train_sentences, dev_sentences, monkeypatch):
    """Beside it the same training without; its steps are the same, so their weights can be averaged by hand."""
    seen = []
    plain_step = fit_module._Fit._step

    def step(self, examples):
        loss = plain_step(self, examples)
        seen.append([parameter.detach().clone() for parameter in self.learner.parameters])
        return loss

    monkeypatch.setattr(fit_module._Fit, "_step", step)
    settings = replace(SETTINGS, average_decay=0.8, epochs=3)
    averaged = tagger(train_sentences)
    expected = [parameter.detach().clone() for parameter in averaged.parameters()]
    fit(averaged, TASK, train_sentences, [], settings, tmp_path / "average", seed=5)
    with_average, seen[:] = list(seen), []
    _, plain, _ = run(tmp_path / "plain", train_sentences, [], replace(settings, average_decay=0.0))
    for number, weights in enumerate(seen):
        kept = min(0.8, (1 + number) / (10 + number))
        expected = [kept * one + (1 - kept) * other for one, other in zip(expected, weights, strict=True)]
        assert all(torch.equal(one, other) for one, other in zip(weights, with_average[number], strict=True))
    for (name, parameter), tensor in zip(averaged.named_parameters(), expected, strict=True):
        assert torch.allclose(parameter, tensor, atol=1e-6), name
        assert not torch.equal(parameter, plain[name])


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.safetensors", "progress.json"])
def test_a_training_does_not_go_on_from_files_that_were_changed(
    tmp_path, train_sentences, dev_sentences, name, stop_after
):
    settings = replace(SETTINGS, epochs=2)
    epoch = -(-len(train_sentences) // settings.batch_size)
    with pytest.raises(Interrupted):
        run(tmp_path, train_sentences, dev_sentences, settings, flag=stop_after(3 * epoch // 2 + 1))
    flip(tmp_path / "checkpoint" / name)
    with pytest.raises(WeightFileError, match="can't be used .* it is missing or damaged"):
        run(tmp_path, train_sentences, dev_sentences, settings)


def flip(path: Path) -> None:
    """One bit; of a safetensors file in the values."""
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 1
    path.write_bytes(content)


def test_the_best_weights_are_compared_with_their_checksum(tmp_path, train_sentences):
    folder, model = FitFolder(tmp_path), tagger(train_sentences)
    folder.save_best(model)
    folder.restore_best(model)
    flip(tmp_path / "best.safetensors")
    with pytest.raises(WeightFileError, match="don't have the SHA-256 that was stored with them"):
        folder.restore_best(model)


def test_weights_that_two_layers_share_are_kept(tmp_path, train_sentences, stop_after):
    def tied() -> torch.nn.Module:
        model = tagger(train_sentences)
        model.add_module("twin", torch.nn.Linear(*reversed(model.project.weight.shape), bias=False))
        model.twin.weight = model.project.weight
        return model

    settings = replace(SETTINGS, epochs=1)
    whole, model = (fit(tied(), TASK, train_sentences, [], settings, tmp_path / "whole", seed=5), tied())
    with pytest.raises(Interrupted):
        fit(model, TASK, train_sentences, [], settings, tmp_path / "cut", seed=5, flag=stop_after(3))
    assert fit(model, TASK, train_sentences, [], settings, tmp_path / "cut", seed=5) == whole
    assert model.twin.weight is model.project.weight


@pytest.mark.parametrize("where", ["save", "save_best", "add_record"])
@pytest.mark.parametrize("after", [False, True])
def test_a_killed_training_goes_on_bit_for_bit(
    tmp_path, train_sentences, dev_sentences, whole, monkeypatch, where, after
):
    whole()  # before the patch
    owner = fit_module if where == "add_record" else fit_module.FitFolder
    method = getattr(owner, where)
    calls = iter(range(100))

    def killed(*arguments):
        second = next(calls) == 1
        if second and not after:
            raise SystemError("killed")
        method(*arguments)
        if second:
            raise SystemError("killed")

    monkeypatch.setattr(owner, where, killed)
    with pytest.raises(SystemError):
        run(tmp_path / "cut", train_sentences, dev_sentences)
    monkeypatch.undo()
    assert_same(run(tmp_path / "cut", train_sentences, dev_sentences), whole())


def test_an_epoch_of_two_passes_takes_the_steps_of_two_epochs(tmp_path, train_sentences):
    twice = replace(SETTINGS, epochs=2, epoch_passes=2)
    _, weights, lines = run(tmp_path / "once", train_sentences, [], SETTINGS)
    fitted, same, fewer = run(tmp_path / "twice", train_sentences, [], twice)
    assert fitted.epochs == len(fewer) == 2
    assert fewer[1]["loss"] == pytest.approx((lines[2]["loss"] + lines[3]["loss"]) / 2, abs=1e-5)
    assert all(torch.equal(tensor, same[name]) for name, tensor in weights.items())


def test_training_ends_when_the_dev_score_stays_and_has_the_best_weights(
    tmp_path, train_sentences, dev_sentences, monkeypatch
):
    scores = iter([10.0, 30.0, 20.0, 25.0, 99.0])
    monkeypatch.setattr(TASK, "score", lambda examples, predictions: {"f1": next(scores)})
    settings = FitSettings(epochs=9, patience=2, batch_size=32, learning_rate=0.01, decay="halve")
    fitted, weights, lines = run(tmp_path, train_sentences, dev_sentences, settings)
    assert fitted == Fitted(epochs=4, best_epoch=2)
    assert [line["learning_rate"] for line in lines] == [0.01, 0.01, 0.01, 0.005]
    two, then, _ = run(tmp_path / "two", train_sentences, [], replace(settings, epochs=2))
    assert two == Fitted(2, 2)
    assert all(torch.equal(weights[name], then[name]) for name in weights)


def test_patience_counts_from_the_first_score_above_zero_and_ties_go_to_the_lower_loss(
    tmp_path, train_sentences, dev_sentences, monkeypatch
):
    scores = iter([0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 99.0])
    losses = iter([3.0, 2.0, 4.0, 1.0, 2.0, 3.0, 1.0])
    monkeypatch.setattr(TASK, "score", lambda examples, predictions: {"f1": next(scores)})
    monkeypatch.setattr(fit_module, "predict_and_loss", lambda *arguments, **settings: ([], next(losses)))
    settings = FitSettings(epochs=9, patience=2, batch_size=32, learning_rate=0.01, decay="halve")
    fitted, _, lines = run(tmp_path, train_sentences, dev_sentences, settings)
    assert (fitted.epochs, fitted.best_epoch) == (7, 7)
    assert [line["dev_loss"] for line in lines] == [3, 2, 4, 1, 2, 3, 1]
    assert [line["learning_rate"] for line in lines] == [0.01] * 6 + [0.005]


def test_dev_data_are_read_once_for_predictions_and_loss(train_sentences, dev_sentences):
    model, settings, read = tagger(train_sentences), replace(SETTINGS, batch_size=4), []
    model.tokens.register_forward_hook(lambda module, given, vectors: read.extend(given[0]))
    predictions, loss = predict_and_loss(model, TASK, dev_sentences, settings)
    assert sorted(read) == sorted(sentence.tokens for sentence in dev_sentences)
    assert predictions == predict_all(model, TASK, dev_sentences, settings)
    assert loss == pytest.approx(torch.stack([model.loss([one]) for one in dev_sentences]).mean().item(), rel=1e-5)


def test_a_score_without_the_metric_is_an_error_and_another_figure_may_decide(
    tmp_path, train_sentences, dev_sentences, monkeypatch
):
    with pytest.raises(ConfigError, match="compared by 'f2', but its score has only f1, macro_f1"):
        run(tmp_path / "wrong", train_sentences, dev_sentences, replace(SETTINGS, best_by="f2"))
    figures = iter([(30.0, 10.0), (20.0, 20.0)])
    monkeypatch.setattr(TASK, "score", lambda *_: dict(zip(("f1", "macro_f1"), next(figures), strict=True)))
    fitted, _, _ = run(tmp_path, train_sentences, dev_sentences, replace(SETTINGS, epochs=2, best_by="macro_f1"))
    assert fitted.best_epoch == 2


def test_a_loss_that_is_no_number_ends_the_training_with_advice(tmp_path, train_sentences, dev_sentences):
    settings = FitSettings(epochs=3, batch_size=8, learning_rate=1e30, clip_norm=0.0, optimizer="sgd")
    with pytest.raises(TrainingFailed, match="epoch 1, batch .* diverged.*--learning-rate"):
        run(tmp_path, train_sentences, dev_sentences, settings)


def test_chance_outside_is_neither_used_nor_changed(tmp_path, train_sentences, dev_sentences, whole):
    one = whole()
    model = tagger(train_sentences)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    fit(model, TASK, train_sentences, dev_sentences, SETTINGS, tmp_path / "other", seed=5)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, one[1][name]) for name, tensor in model.state_dict().items())


def test_it_reports_batches_and_predictions(tmp_path, train_sentences, dev_sentences, recorded_progress):
    run(tmp_path, train_sentences, dev_sentences, progress=recorded_progress)
    assert recorded_progress.units.pop("predicting") == {"examples"}
    predicted = recorded_progress.stages.pop("predicting")
    assert predicted.count((len(dev_sentences), len(dev_sentences))) == SETTINGS.epochs
    recorded_progress.require({"seed 5": "batches"})
    assert recorded_progress.notes[-1].startswith("epoch 4, best dev f1 ")


def test_a_training_that_ends_early_reaches_the_total_that_it_came_to(
    tmp_path, train_sentences, dev_sentences, monkeypatch, recorded_progress
):
    monkeypatch.setattr(TASK, "score", lambda examples, predictions: {"f1": 10.0})
    settings = FitSettings(epochs=9, patience=2, batch_size=32, learning_rate=0.01)
    fitted, _, _ = run(tmp_path, train_sentences, dev_sentences, settings, progress=recorded_progress)
    reports = recorded_progress.stages["seed 5"]
    assert fitted.epochs < 9
    assert reports[-1][0] == reports[-1][1] < reports[0][1]


def test_another_seed_is_another_training(tmp_path, train_sentences):
    models = [tagger(train_sentences) for _ in range(2)]
    for seed, model in zip((0, 2**63 - 1), models, strict=True):
        fit(model, TASK, train_sentences, [], replace(SETTINGS, epochs=1), tmp_path / str(seed), seed=seed)
    assert not torch.equal(models[0].project.weight, models[1].project.weight)


def test_predictions_are_in_the_order_of_the_examples(train_sentences):
    model = tagger(train_sentences)
    together = predict_all(model, TASK, train_sentences, SETTINGS)
    assert together == [predict_all(model, TASK, [example], SETTINGS)[0] for example in train_sentences]
    assert predict_all(model, TASK, [], SETTINGS) == []


def test_batches_hold_every_example_once_and_follow_from_seed_and_epoch():
    lengths = np.random.default_rng(0).integers(1, 60, 1000).tolist()
    batches = shuffled_batches(lengths, BatchLimits(8), seed=1, number=2)
    assert sorted(np.concatenate(batches).tolist()) == list(range(1000))
    assert max(map(len, batches)) == 8
    again = shuffled_batches(lengths, BatchLimits(8), seed=1, number=2)
    assert all(np.array_equal(one, other) for one, other in zip(batches, again, strict=True))
    assert not np.array_equal(batches[0], shuffled_batches(lengths, BatchLimits(8), seed=1, number=3)[0])
    padded = sum(len(batch) * max(lengths[place] for place in batch) for batch in batches)
    assert padded < 1.1 * sum(lengths)
    assert sorted(np.concatenate(list(sorted_batches(lengths, BatchLimits(8)))).tolist()) == list(range(1000))


@given(
    sizes=st.lists(st.integers(0, 30), max_size=60),
    examples=st.integers(1, 9),
    tokens=st.integers(0, 50),
    seed=st.integers(0, 9),
)
def test_batches_keep_their_limits(sizes, examples, tokens, seed):
    limits = BatchLimits(examples, tokens)
    for batches in (shuffled_batches(sizes, limits, seed, 0), list(sorted_batches(sizes, limits))):
        assert sorted(place for batch in batches for place in batch) == list(range(len(sizes)))
        for batch in batches:
            assert 1 <= len(batch) <= examples
            assert not tokens or len(batch) == 1 or len(batch) * max(sizes[place] for place in batch) <= tokens


def test_examples_of_a_group_stay_together():
    groups = [number // 5 for number in range(100)]
    kept = share_of(groups, 0.25)
    assert len(kept) == 25
    assert len({groups[place] for place in kept}) == 5
    assert set(kept.tolist()) <= set(share_of(groups, 0.5).tolist())


@pytest.mark.parametrize(("examples", "size"), [(100, 8), (300, 8), (600, 15), (6000, 32)])
def test_little_data_make_smaller_batches(examples, size):
    least = FitSettings().least_batches
    assert BatchLimits(32).in_training(examples, least).examples == size
    assert BatchLimits(32).in_training(examples, 0).examples == 32
    assert BatchLimits(4).in_training(examples, least).examples == 4


def test_gradients_are_clipped_by_element_and_weights_decay_where_the_model_says(train_sentences, monkeypatch):
    model = tagger(train_sentences)
    monkeypatch.setattr(type(model), "is_decayed", lambda self, name, parameter: "crf" not in name)
    optimizer = make_optimizer(replace(SETTINGS, weight_decay=0.1), model)
    assert [(group["weight_decay"], len(group["params"])) for group in optimizer.param_groups][1] == (0.0, 1)
    clipped = Learner(replace(SETTINGS, clip_value=0.5, clip_norm=0.0), model)
    for parameter in clipped.parameters:
        parameter.grad = torch.full_like(parameter, 3.0)
    expected = 0.5 * math.sqrt(sum(parameter.numel() for parameter in clipped.parameters))
    assert clipped.clip() == pytest.approx(expected, rel=1e-5)


def test_what_a_step_draws_follows_from_seed_and_step(
    tmp_path, train_sentences, dev_sentences, monkeypatch, stop_after
):
    """Also in a training that was stopped and resumed."""
    seen = []

    def drawn(self, example, random):
        seen.append(int(random.integers(1000)))
        return example

    monkeypatch.setattr(type(TASK), "drawn", drawn)
    whole = run(tmp_path / "whole", train_sentences, dev_sentences)
    first, seen[:] = list(seen), []
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", train_sentences, dev_sentences, flag=stop_after(7))
    assert_same(run(tmp_path / "cut", train_sentences, dev_sentences), whole)
    assert seen == first
    assert len(set(first)) > 50


def test_an_average_without_warm_up_has_a_constant_decay():
    weight = torch.nn.Parameter(torch.zeros(1))
    average = WeightAverage([weight], 0.9, warmup=False)
    weight.data.fill_(1.0)
    for step in range(3):
        average.update(step)
    assert average.values[0].item() == pytest.approx(1 - 0.9**3)


def test_smaller_shares_are_parts_of_larger_ones():
    shares = [set(share_of(range(1000), share).tolist()) for share in (0.001, 0.01, 0.5, 1.0)]
    assert [len(share) for share in shares] == [1, 10, 500, 1000]
    assert all(one < other for one, other in zip(shares[:-1], shares[1:], strict=True))


def test_rates_fall_as_set(train_sentences):
    linear = FitSettings(learning_rate=1.0, decay="linear")
    assert [rate_at(linear, step, step / 4) for step in range(5)] == [1, 0.75, 0.5, 0.25, 0]
    assert rate_at(FitSettings(learning_rate=1.0, decay="halve"), 9, 0.9, 3) == 0.125
    assert rate_at(FitSettings(learning_rate=1.0), 9, 0.9, 3) == 1
    stairs = FitSettings(learning_rate=1.0, decay="staircase", decay_rate=0.5, decay_steps=10)
    assert [rate_at(stairs, step, 0.5) for step in (0, 9, 10, 29)] == [1, 1, 0.5, 0.25]
    adadelta = FitSettings(optimizer="adadelta", learning_rate=1.0, adadelta_epsilon=1e-8)
    group = make_optimizer(adadelta, tagger(train_sentences)).param_groups[0]
    assert (group["rho"], group["lr"], group["eps"]) == (0.95, 1.0, 1e-8)
