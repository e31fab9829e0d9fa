"""The scripts beside the package, as modules."""

import random
from pathlib import Path
from types import ModuleType

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


@pytest.fixture(scope="session")
def tables(load_script) -> ModuleType:
    """The queue."""
    return load_script("runs/six_tasks/tables.py")


@pytest.fixture(scope="session")
def finished(load_script) -> ModuleType:
    """What keeps trainings in small files; it imports the queue as a script does."""
    return load_script("runs/six_tasks/finished.py")


@pytest.fixture(scope="session")
def page(load_script) -> ModuleType:
    """What writes docs/reproduction.md."""
    return load_script("runs/six_tasks/page.py")


@pytest.fixture(scope="session")
def paper_page(load_script) -> ModuleType:
    """What makes the tables of docs/paper.md; it imports the rows as a script does."""
    return load_script("runs/six_tasks/paper_page.py")


@pytest.fixture(scope="session")
def claims(load_script) -> ModuleType:
    """What decides the paper's claims about tables 4 to 6."""
    return load_script("runs/six_tasks/layer_claims.py")


@pytest.fixture(scope="session")
def unseen_words(load_script) -> ModuleType:
    """What splits the examples by their words; it imports the queue as a script does."""
    return load_script("runs/six_tasks/unseen_words.py")


@pytest.fixture(scope="session")
def finetuned(load_script) -> ModuleType:
    """What fine-tunes the biLM on the text of a task."""
    return load_script("runs/six_tasks/finetuned.py")


@pytest.fixture
def place(tmp_path: Path, tiny_bilm) -> Path:
    """A plan of two tasks with their data, a model and static vectors."""
    chance = random.Random(0)
    words = ["the O", "saw O", "Anna B-PER", "Rome B-LOC"]
    sentences = ["\n".join(chance.choices(words, k=4)) for _ in range(40)]
    (tmp_path / "data" / "towns").mkdir(parents=True)
    for part in ("train", "dev"):
        text = "\n\n".join([*sentences, "Anna B-PER\nRome B-LOC"])
        (tmp_path / "data" / "towns" / f"{part}.conll").write_text(text + "\n")
    (tmp_path / "data" / "films").mkdir()
    lines = [f"{label}\ta {word} film" for label, word in chance.choices([("0", "bad"), ("1", "good")], k=20)]
    (tmp_path / "data" / "films" / "train.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "vectors.txt").write_text(
        "".join(f"{word} 1 0\n" for word in ("the", "saw", "Anna", "a", "bad", "film"))
    )
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "ner.toml").write_text("hidden_sizes = [4]\ncharacter_filters = 2\nbatch_size = 10\nepochs = 9\n")
    (tmp_path / "sst.toml").write_text("hidden_size = 4\nepochs = 1\n")
    write(tiny_bilm.to_checkpoint(), tmp_path / "model")
    return tmp_path
