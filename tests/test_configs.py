"""Every recipe in configs/ is read, and the published ones have the published sizes."""

import tomllib
from pathlib import Path

import pytest

from elmo.config import PUBLISHED_SIZES
from elmo.pretrain.config import PretrainConfig

FOLDER = Path(__file__).resolve().parents[1] / "configs" / "pretrain"
RECIPES = sorted(FOLDER.glob("*.toml"))


def _read(path: Path) -> PretrainConfig:
    return PretrainConfig.from_dict(tomllib.loads(path.read_text(encoding="utf-8")), str(path))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_complete_and_says_how_to_run_it(path: Path) -> None:
    assert _read(path).architecture(50).output_dim > 0
    head = path.read_text(encoding="utf-8").split("\n\n")[0]
    assert head.startswith("#")
    assert path.name in head or f"{path.stem}.sh" in head


@pytest.mark.parametrize("size", PUBLISHED_SIZES)
def test_the_papers_recipe_has_the_published_sizes(size: str) -> None:
    config = _read(FOLDER / f"{size}.toml")
    assert config.architecture(50) == PUBLISHED_SIZES[size]
    assert (config.optimizer, config.learning_rate, config.clip_norm) == ("adagrad", 0.2, 10.0)
    assert (config.batch_size, config.unroll_steps, config.num_negative_samples) == (128, 20, 8192)
    assert (config.dropout, config.sum_over_window, config.state_reset) == (0.1, True, 0.0)
