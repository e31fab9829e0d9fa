"""A biLM that is trained with a task: rates by layer, layers that wait for their epoch, exact resumption."""

from dataclasses import replace

import pytest
import torch

from elmo.errors import Interrupted
from elmo.tasks.ner.data import NerSettings, TaggerSettings
from elmo.tasks.ner.task import TASK
from elmo.tasks.settings import FitSettings, TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.tasks.train.apply import predict_and_loss
from elmo.tasks.train.fit import fit
from elmo.tasks.train.optimizers import Learner, rate_at

SETTINGS = FitSettings(epochs=4, patience=0, batch_size=10, learning_rate=0.01, least_batches=0)
BILM = "tokens.live.bilm."
# Of the biLM of two layers, by the epochs that they wait for.
WAITING = {2: "token_encoder.", 1: "_lstm.layers.0.", 0: "_lstm.layers.1."}


def tagger(bilm, sentences, **tokens):
    torch.manual_seed(3)
    settings = NerSettings(tagger=TaggerSettings(hidden_sizes=(8,), character_filters=0, dropout=0.2))
    own = TokenSettings(train_bilm=True, elmo_dropout=0.0, **tokens)
    source = TokenSources(FrozenLayers(bilm))
    return TASK.build(settings, TASK.vocabulary(sentences, settings), TokenRepresentation(own, source)).train()


def state(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def changed(one, other):
    return {name for name, tensor in one.items() if not torch.equal(tensor, other[name])}


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta"])
def test_a_layer_stays_as_it_is_until_its_epoch(bilm, train_sentences, tmp_path, optimizer):
    settings = replace(SETTINGS, optimizer=optimizer, learning_rate=0.1, weight_decay=0.01)
    model = tagger(bilm, train_sentences)
    weights = [state(model)]
    for epochs in range(1, 5):  # each time as far as an epoch further, from where the one before ended
        once = tagger(bilm, train_sentences)
        fit(once, TASK, train_sentences, [], replace(settings, epochs=epochs), tmp_path / "run", seed=1)
        weights.append(state(once))
    every = {name for name, _ in model.named_parameters() if name.startswith(BILM)}
    for epoch, (before, after) in enumerate(zip(weights, weights[1:], strict=False)):
        moved = changed(before, after)
        trained = {name for name in every if any(epoch > wait and part in name for wait, part in WAITING.items())}
        assert moved & every == trained, epoch
        assert any(not name.startswith(BILM) for name in moved)


def test_no_training_ends_before_its_bilm_is_trained(bilm, train_sentences, dev_sentences, tmp_path, monkeypatch):
    scores = iter([30.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0])
    monkeypatch.setattr(TASK, "score", lambda *_: {"f1": next(scores)})
    settings = replace(SETTINGS, epochs=9, patience=2)
    model = tagger(bilm, train_sentences, unfreeze_epochs=4)
    fitted = fit(model, TASK, train_sentences, dev_sentences, settings, tmp_path / "run", seed=1)
    assert (fitted.epochs, fitted.best_epoch) == (6, 1)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta", "adagrad", "sgd"])
def test_dev_data_are_scored_with_the_weights_of_the_last_step(bilm, train_sentences, dev_sentences, optimizer):
    """fused optimizers don't raise the counts by which torch tells that a weight has changed."""
    model = tagger(bilm, train_sentences, unfreeze_epochs=0, bilm_rate=1.0).eval()
    learner = Learner(replace(SETTINGS, optimizer=optimizer, learning_rate=0.3), model)
    losses = []
    for step in range(3):
        learner.begin(step, 0.0, 0)
        loss = model.loss(dev_sentences)  # with gradients torch computes, from the weights themselves
        losses.append((predict_and_loss(model, TASK, dev_sentences, replace(SETTINGS, batch_size=20))[1], loss.item()))
        loss.backward()
        learner.clip()
        learner.step(step)
    for found, expected in losses:
        assert found == pytest.approx(expected, rel=1e-5)


def test_rates_fall_from_layer_to_layer(bilm, train_sentences):
    model = tagger(bilm, train_sentences)
    learner = Learner(replace(SETTINGS, decay="linear", weight_decay=0.1), model)
    learner.begin(0, 1.0, 0)
    rates = {id(parameter): group["lr"] for group in learner.optimizer.param_groups for parameter in group["params"]}
    expected = {"token_encoder.": 0.1 / 2.6**2, "_lstm.layers.0.": 0.1 / 2.6, "_lstm.layers.1.": 0.1}
    for name, parameter in model.named_parameters():
        share = next((share for part, share in expected.items() if BILM in name and part in name), 1.0)
        assert rates[id(parameter)] == pytest.approx(0.0075 * share), name
        assert parameter.requires_grad == (BILM not in name or "layers.1." in name)
    assert learner.rate == 0.0075


def test_a_new_bilm_has_other_weights_and_the_common_rate(bilm, train_sentences):
    model = tagger(bilm, train_sentences, new_bilm=True)
    assert not torch.equal(model.tokens.live.bilm.lstms[0].layers[0].input_weight, bilm.lstms[0].layers[0].input_weight)
    learner = Learner(SETTINGS, model)
    learner.begin(0, 0.0, 0)
    assert {group["lr"] for group in learner.optimizer.param_groups} == {0.01}
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_the_slanted_rate_rises_in_a_tenth_and_falls_to_the_end():
    """Howard and Ruder 2018: p = t / cut, then 1 - (t - cut) / (cut (1 / 0.1 - 1)); rate (1 + 31 p) / 32."""
    settings = FitSettings(learning_rate=3.2, decay="slanted", epochs=10)
    found = [rate_at(settings, 0, done) for done in (0.0, 0.05, 0.1, 0.55, 1.0)]
    assert found == pytest.approx([0.1, 1.65, 3.2, 1.65, 0.1])


def test_a_stopped_training_goes_on_bit_for_bit(bilm, train_sentences, dev_sentences, tmp_path, stop_after):
    """Within the epochs in which a layer waits, and after."""
    settings = replace(SETTINGS, average_decay=0.9)

    def run(folder, **more):
        model = tagger(bilm, train_sentences)
        fitted = fit(model, TASK, train_sentences, dev_sentences, settings, folder, seed=5, **more)
        return fitted, state(model)

    whole = run(tmp_path / "whole")
    for looks in (4, 9, 15, 20):
        with pytest.raises(Interrupted):
            run(tmp_path / str(looks), flag=stop_after(looks))
        again = run(tmp_path / str(looks))
        assert again[0] == whole[0]
        assert not changed(whole[1], again[1])
