"""A corpus of a few sentences, prepared."""

from pathlib import Path

import pytest

from elmo.corpus.prepare import prepare
from elmo.corpus.shards import TrainingData
from elmo.pretrain.settings.config import PretrainConfig

TEXT = """the cat sat on the mat
the dog sat on the log
a cat and a dog
밥 을 먹었다
he went to the bank to get money
the bank of the river
mats and logs and cats and dogs sat and sat and sat
money
"""


@pytest.fixture
def data(tmp_path: Path) -> TrainingData:
    """The text as training data, its first lines as validation data, in two shards."""
    train, valid = tmp_path / "train.txt", tmp_path / "valid.txt"
    train.write_text(TEXT, encoding="utf-8")
    valid.write_text("the cat sat\nthe zebra went to the bank\n", encoding="utf-8")
    prepare([train], tmp_path / "data", valid=[valid], tokens_per_shard=20)
    return TrainingData.open(tmp_path / "data")


@pytest.fixture
def recipe() -> PretrainConfig:
    """Tiny, with everything switched on that takes part in a step."""
    return PretrainConfig(
        cell_size=12,
        projection_size=8,
        character_dim=4,
        filters=((1, 4), (2, 4), (3, 6)),
        num_highway=1,
        epochs=3,
        batch_size=3,
        unroll_steps=4,
        num_negative_samples=6,
        state_reset=0.5,
        dropout=0.1,
        log_every=1,
        save_every=2,
        evaluate_every=4,
    )
