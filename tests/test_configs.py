"""Every recipe in configs/ is read, and the published ones have the published sizes."""

import tomllib
from pathlib import Path

import pytest

from elmo.config import PUBLISHED_SIZES
from elmo.pretrain.settings.config import PretrainConfig
from elmo.tasks.registry import find
from elmo.tasks.settings import to_table, with_table

FOLDER = Path(__file__).resolve().parents[1] / "configs" / "pretrain"
RECIPES = sorted(FOLDER.glob("*.toml"))
TASK_RECIPES = sorted((FOLDER.parent / "tasks").glob("*.toml"))


def _read(path: Path) -> PretrainConfig:
    return PretrainConfig.from_dict(tomllib.loads(path.read_text(encoding="utf-8")), str(path))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_complete_and_says_how_to_run_it(path):
    assert _read(path).architecture(50).output_dim > 0
    head = path.read_text(encoding="utf-8").split("\n\n")[0]
    assert head.startswith("#")
    assert path.name in head or f"{path.stem}.sh" in head


@pytest.mark.parametrize("size", PUBLISHED_SIZES)
def test_the_papers_recipe_has_the_published_sizes(size):
    config = _read(FOLDER / f"{size}.toml")
    assert config.architecture(50) == PUBLISHED_SIZES[size]
    assert (config.optimizer, config.learning_rate, config.clip_norm) == ("adagrad", 0.2, 10.0)
    assert (config.batch_size, config.unroll_steps, config.num_negative_samples) == (128, 20, 8192)
    assert (config.dropout, config.sum_over_window, config.state_reset) == (0.1, True, 0.0)


def test_the_cnn_big_lstm_has_its_published_sizes():
    config = _read(FOLDER / "cnn-big-lstm.toml")
    architecture = config.architecture(50)
    assert (architecture.direction, architecture.num_filters) == ("forward", 4096)
    assert (architecture.cell_size, architecture.projection_size, architecture.num_layers) == (8192, 1024, 2)
    assert (config.optimizer, config.learning_rate, config.clip_norm) == ("adagrad", 0.2, 1.0)


@pytest.mark.parametrize(("size", "filters", "cells", "highways"), [("small", 525, 300, 1), ("large", 1100, 650, 2)])
def test_the_models_of_kim_have_their_published_sizes(size, filters, cells, highways):
    config = _read(FOLDER / f"kim-2015-{size}.toml")
    architecture = config.architecture(50)
    assert (architecture.num_filters, architecture.num_highway, architecture.character_dim) == (filters, highways, 15)
    assert (architecture.cell_size, architecture.has_lstm_projection) == (cells, False)
    assert (architecture.directions, architecture.cell_clip) == (("forward",), None)
    assert (config.optimizer, config.learning_rate, config.dropout, config.clip_norm) == ("sgd", 1.0, 0.5, 5.0)
    assert (config.softmax, config.unroll_steps) == ("full", 35)


def test_the_model_of_words_reads_no_characters_and_shares_its_table():
    config = _read(FOLDER / "words.toml")
    architecture = config.architecture(50, vocabulary_size=100)
    assert (architecture.has_characters, architecture.token_projection) == (False, False)
    assert (architecture.num_words, architecture.word_dim) == (101, 128)
    assert config.tie_softmax


@pytest.mark.parametrize("path", TASK_RECIPES, ids=lambda path: path.stem)
def test_a_tasks_recipe_is_read_and_says_how_to_run_it(path):
    text = path.read_text(encoding="utf-8")
    table = tomllib.loads(text)
    settings = with_table(find(path.stem.split("-")[0]).settings(), table, str(path))
    assert {name: to_table(settings)[name] for name in table} == {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }
    assert f"elmo task train {path.stem.split('-')[0]} configs/tasks/{path.name}" in text


@pytest.mark.parametrize(
    ("task", "sizes"),
    [
        ("sst", {"hidden_size": 300, "phrases": "all", "batch_size": 100}),
        ("snli", {"hidden_size": 300, "learning_rate": 0.0004, "placement": "both", "layer_norm": "words"}),
        ("srl", {"num_layers": 8, "hidden_size": 300, "indicator_dim": 100, "optimizer": "adadelta"}),
    ],
)
def test_the_papers_sizes_of_tasks(task, sizes):
    recipe = tomllib.loads((FOLDER.parent / "tasks" / f"{task}-paper.toml").read_text(encoding="utf-8"))
    assert sizes.items() <= recipe.items()


def test_the_taggers_recipe_is_the_papers():
    recipe = tomllib.loads((FOLDER.parent / "tasks" / "ner.toml").read_text(encoding="utf-8"))
    settings = with_table(find("ner").settings(), recipe, "ner.toml")
    assert settings == find("ner").settings()
    assert (settings.tokens.mix_penalty, settings.tokens.placement, settings.tagger.dropout) == (0.1, "input", 0.5)
    assert (settings.tagger.hidden_sizes, settings.tagger.character_filters) == ((200, 100), 128)
    assert (settings.fit.learning_rate, settings.fit.clip_norm) == (0.001, 5.0)
