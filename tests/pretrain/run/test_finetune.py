"""Fine-tuning: it starts from the model's weights, compares both domains before and after, and resumes bit for bit."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError, Interrupted, WeightFileError
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.pretrain.run.held_out import text_file
from elmo.pretrain.run.training import train
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.weights.native.names import SOFTMAX_FILE
from elmo.weights.native.read import read as read_checkpoint

NEW_DOMAIN = "money and the bank\nthe bank of money\nmoney went to the bank to get money\n" * 6
RECIPE = FinetuneConfig(
    epochs=3, learning_rate=0.02, warmup_steps=2, batch_size=2, unroll_steps=5, num_negative_samples=8, log_every=1,
    save_every=5, evaluate_every=6,
)  # fmt: skip


@pytest.fixture
def model(data: TrainingData, recipe: PretrainConfig, tmp_path: Path) -> Path:
    """A model of the old domain."""
    return train(data, tmp_path / "old-run", replace(recipe, max_steps=6)).model


@pytest.fixture
def medical(model: Path, tmp_path: Path) -> TrainingData:
    """Another domain's text, prepared with the model's vocabulary."""
    text = tmp_path / "new.txt"
    text.write_text(NEW_DOMAIN, encoding="utf-8")
    prepare([text], tmp_path / "new-data", CorpusSettings(vocabulary=model / "vocab.txt"), valid=[text])
    return TrainingData.open(tmp_path / "new-data")


@pytest.fixture
def old_text(tmp_path: Path) -> Path:
    path = tmp_path / "old.txt"
    path.write_text("the cat sat on the log\n\na dog and a cat\n", encoding="utf-8")
    return path


def _perplexity(model: Path, sentences: list[list[str]]) -> dict[str, float]:
    found = read_checkpoint(model)
    return evaluate(EngineLanguageModel(found), sentences).to_dict()


def test_both_domains_are_measured_before_and_after(model, medical, old_text, tmp_path):
    found = train(medical, tmp_path / "run", RECIPE, model=model, old_text=old_text)
    texts = {
        "valid": [line.split() for line in NEW_DOMAIN.splitlines()],
        "old": [["the", "cat", "sat", "on", "the", "log"], ["a", "dog", "and", "a", "cat"]],
    }
    for name, sentences in texts.items():
        assert found.before[name] == pytest.approx(_perplexity(model, sentences), rel=1e-5)
        assert found.after[name] == pytest.approx(_perplexity(found.model, sentences), rel=1e-5)
    assert found.after["valid"]["mean_perplexity"] < 0.7 * found.before["valid"]["mean_perplexity"]
    written = json.loads((tmp_path / "run" / "perplexities.json").read_text(encoding="utf-8"))
    assert written == {"before": found.before, "after": found.after}
    facts = read_checkpoint(found.model).metadata
    assert facts["finetuned_from"] == str(model)
    assert float(facts["old_mean_perplexity_before"]) == pytest.approx(found.before["old"]["mean_perplexity"], rel=1e-3)


def test_perplexities_of_the_original_are_not_those_of_the_new_model(model, tmp_path):
    assert "valid_mean_perplexity" in read_checkpoint(model).metadata
    (tmp_path / "new.txt").write_text(NEW_DOMAIN, encoding="utf-8")
    prepare([tmp_path / "new.txt"], tmp_path / "new", CorpusSettings(vocabulary=model / "vocab.txt"))
    found = train(TrainingData.open(tmp_path / "new"), tmp_path / "run", replace(RECIPE, max_steps=1), model=model)
    assert not [name for name in read_checkpoint(found.model).metadata if "perplexity" in name]


def test_an_old_text_is_read_as_elmo_perplexity_reads_it(model, medical, tmp_path):
    raw = "The cat sat, on the log. It was\ta dog.\n\nA cafe\u0301, and a cat!\n"
    (tmp_path / "old.txt").write_text(raw * 20, encoding="utf-8")
    text = text_file("old", tmp_path / "old.txt", medical.vocabulary.words)
    first = ["The", "cat", "sat", ",", "on", "the", "log", ".", "It", "was", "a", "dog", "."]
    second = ["A", "caf\u00e9", ",", "and", "a", "cat", "!"]
    assert list(text.pick(0)) == [first, second] * 20 and text.num_sentences == 40


@pytest.mark.slow
@pytest.mark.parametrize("step", [0, 7])
def test_a_stopped_run_goes_on_bit_for_bit(model, medical, old_text, tmp_path, monkeypatch, step):
    whole = train(medical, tmp_path / "whole", RECIPE, model=model, old_text=old_text)
    plain_step = Trainer.step

    def stopping_step(trainer: Trainer, *arguments):
        if trainer.step_number == step:
            os.kill(os.getpid(), signal.SIGTERM)
        return plain_step(trainer, *arguments)

    monkeypatch.setattr(Trainer, "step", stopping_step)
    with pytest.raises(Interrupted, match=f"stopped at step {step + 1} "):
        train(medical, tmp_path / "run", RECIPE, model=model, old_text=old_text)
    monkeypatch.setattr(Trainer, "step", plain_step)
    found = train(medical, tmp_path / "run")
    assert (found.before, found.after) == (whole.before, whole.after)
    one, other = read_checkpoint(whole.model), read_checkpoint(found.model)
    assert all((one.tensors[name] == other.tensors[name]).all() for name in one.tensors)


def test_a_run_with_settings_of_another_version_or_of_fine_tuning_is_not_resumed(model, medical, tmp_path, recipe):
    train(medical, tmp_path / "run", replace(RECIPE, max_steps=1), model=model)
    with pytest.raises(ConfigError, match=r"is a run of 'elmo finetune'. Continue it with"):
        train(medical, tmp_path / "run", recipe)
    path = tmp_path / "run" / "finetune.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "settings": {**facts["settings"], "mood": "good"}}))
    with pytest.raises(ConfigError, match=r"finetune\.json: unknown setting 'mood'"):
        train(medical, tmp_path / "run")


def test_another_vocabulary_is_an_error_with_the_command(model, tmp_path):
    text = tmp_path / "new.txt"
    text.write_text(NEW_DOMAIN, encoding="utf-8")
    prepare([text], tmp_path / "wrong")
    with pytest.raises(
        ConfigError, match=f"has other words than the softmax of .*elmo prepare TEXT --vocabulary {model}/vocab.txt"
    ):
        train(TrainingData.open(tmp_path / "wrong"), tmp_path / "run", RECIPE, model=model)
    prepare([text], tmp_path / "short", CorpusSettings(vocabulary=model / "vocab.txt", max_characters_per_token=20))
    with pytest.raises(ConfigError, match="other than 50 characters of each.*--max-characters-per-token 50"):
        train(TrainingData.open(tmp_path / "short"), tmp_path / "run", RECIPE, model=model)
    assert not (tmp_path / "run").exists()


def test_a_model_without_softmax_is_an_error(model, medical, tmp_path):
    (model / SOFTMAX_FILE).unlink()
    with pytest.raises(WeightFileError, match="has no softmax over a vocabulary"):
        train(medical, tmp_path / "run", RECIPE, model=model)


def test_a_run_of_pretraining_is_not_resumed_as_fine_tuning(model, data, medical):
    with pytest.raises(ConfigError, match="has no finetune.json"):
        train(medical, model.parent, RECIPE)


def test_every_published_shape_has_a_recipe_or_a_reason(tiny_config):
    for shape in (
        tiny_config,
        replace(tiny_config, cell_clip=None, projection_clip=None, activation="tanh", skip_connections=False),
    ):
        recipe = FinetuneConfig().pretraining(shape, vocabulary_size=1000)
        assert recipe.architecture(shape.max_characters_per_token) == shape
        assert recipe.skip_connections is shape.skip_connections  # not 0 for False
        assert recipe.num_negative_samples == 500
    with pytest.raises(ConfigError, match="forget_bias is 0.0, but training only builds"):
        FinetuneConfig().pretraining(replace(tiny_config, forget_bias=0.0), vocabulary_size=1000)


@pytest.mark.parametrize("divisor", [1, 2, 3, 5, 100])
def test_clusters_of_any_divisor_have_a_recipe(tiny_config, divisor):
    settings = {"softmax": "adaptive", "softmax_cutoffs": (8, 20), "softmax_divisor": divisor}
    clusters = PretrainConfig(projection_size=tiny_config.projection_size, **settings).softmax_clusters(50)
    found = FinetuneConfig().pretraining(tiny_config, 50, clusters)
    assert (found.softmax_cutoffs, found.softmax_clusters(50)) == ((8, 20), clusters)


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="comparison_sentences must be .* .got -1"):
        FinetuneConfig(comparison_sentences=-1)
    with pytest.raises(ConfigError, match="learning_rate"):
        FinetuneConfig(learning_rate=0)


@pytest.mark.parametrize(
    "changes",
    [
        {"direction": "backward", "softmax": "full"},
        {"softmax": "adaptive", "softmax_cutoffs": [8, 20], "softmax_divisor": 2},
        {"characters": "none", "tie_softmax": True},
        {"word_dim": 5},
    ],
)
def test_a_model_of_any_softmax_direction_and_input_goes_on_from_its_weights(data, recipe, tmp_path, changes):
    model = train(data, tmp_path / "old-run", replace(recipe, max_steps=2, **changes)).model
    text = tmp_path / "new.txt"
    text.write_text(NEW_DOMAIN, encoding="utf-8")
    prepare([text], tmp_path / "new-data", CorpusSettings(vocabulary=model / "vocab.txt"), valid=[text])
    found = train(TrainingData.open(tmp_path / "new-data"), tmp_path / "run", RECIPE, model=model)
    sentences = [line.split() for line in NEW_DOMAIN.splitlines()]
    assert found.before["valid"] == pytest.approx(_perplexity(model, sentences), rel=1e-5)
    assert found.after["valid"] == pytest.approx(_perplexity(found.model, sentences), rel=1e-5)
    assert found.after["valid"]["mean_perplexity"] < found.before["valid"]["mean_perplexity"]
    for name in ("characters", "direction", "num_words"):
        assert getattr(read_checkpoint(found.model).config, name) == getattr(read_checkpoint(model).config, name)


def test_a_character_dictionary_is_not_mixed_with_another(data, recipe, tmp_path):
    model = train(data, tmp_path / "old-run", replace(recipe, max_steps=2, characters="dictionary")).model
    text = tmp_path / "new.txt"
    text.write_text("the ox\n" + NEW_DOMAIN, encoding="utf-8")
    prepare([text], tmp_path / "new-data", CorpusSettings(vocabulary=model / "vocab.txt"))
    with pytest.raises(ConfigError, match="characters or words have other ids"):
        train(TrainingData.open(tmp_path / "new-data"), tmp_path / "run", RECIPE, model=model)
    assert not (tmp_path / "run").exists()
