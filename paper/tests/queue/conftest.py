"""A queue of two small tasks."""

from pathlib import Path

import pytest

from elmo.weights.native.write import write

PLAN = """
[table1]
tasks = ["ner", "sst"]
seeds = [1, 2]

[table3]
tasks = ["ner"]
seeds = [1]

[ner]
name = "towns"
config = "ner.toml"
data = "towns"
train = "train.conll"
dev = "dev.conll"
test = "dev.conll"
settings = { epochs = 2 }
minutes = { baseline = 2, elmo = 4 }

[sst]
name = "films"
config = "sst.toml"
data = "films"
train = "train.tsv"
dev = "train.tsv"
test = "train.tsv"
minutes = { baseline = 1, elmo = 1 }
"""


@pytest.fixture
def place(tmp_path: Path, data: Path, tiny_bilm) -> Path:
    """A plan of two tasks with their data, a model and static vectors."""
    (tmp_path / "data" / "towns").mkdir(parents=True)
    for part in ("train", "dev"):
        (tmp_path / "data" / "towns" / f"{part}.conll").write_text(data.read_text())
    (tmp_path / "data" / "films").mkdir()
    (tmp_path / "data" / "films" / "train.tsv").write_text("0\ta bad film\n1\ta good film\n" * 10)
    (tmp_path / "vectors.txt").write_text(
        "".join(f"{word} 1 0\n" for word in ("the", "saw", "Anna", "a", "bad", "film"))
    )
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "ner.toml").write_text("hidden_sizes = [4]\ncharacter_filters = 2\nbatch_size = 10\nepochs = 9\n")
    (tmp_path / "sst.toml").write_text("hidden_size = 4\nepochs = 1\n")
    write(tiny_bilm.to_checkpoint(), tmp_path / "model")
    return tmp_path
