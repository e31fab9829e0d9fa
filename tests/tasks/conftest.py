"""A small task whose answer stands in the words, and a small biLM."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.model.bilm import BiLM
from elmo.process.stop_flag import StopFlag
from elmo.tasks.columns import TaggedSentence
from elmo.tasks.ner.data import TaggerSettings, read_columns

NAMES = {"PER": ["Anna", "Bell Otto", "Cara"], "LOC": ["Rome", "New York", "Oslo"]}
WORDS = ["the", "a", "saw", "went", "to", "in", "old", "is"]


class StopAfter(StopFlag):
    """A flag that somebody raises after some looks at it."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    @property
    def signal(self) -> int | None:
        self.left -= 1
        return 15 if self.left < 0 else None


@pytest.fixture
def stop_after() -> type[StopAfter]:
    return StopAfter


@pytest.fixture(autouse=True)
def on_one_thread(one_thread):
    """All tests of tasks."""


def conll(count: int, seed: int) -> str:
    """Sentences in two columns, with an entity or two."""
    chance = random.Random(seed)
    lines = []
    for _ in range(count):
        for _ in range(chance.randrange(1, 4)):
            lines += [f"{chance.choice(WORDS)} O" for _ in range(chance.randrange(3))]
            label = chance.choice(list(NAMES))
            first, *rest = chance.choice(NAMES[label]).split()
            lines += [f"{first} B-{label}", *(f"{word} I-{label}" for word in rest)]
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture
def train_file(tmp_path) -> Path:
    """60 sentences."""
    path = tmp_path / "train.conll"
    path.write_text(conll(60, seed=1), encoding="utf-8")
    return path


@pytest.fixture
def dev_file(tmp_path) -> Path:
    """20 others."""
    path = tmp_path / "dev.conll"
    path.write_text(conll(20, seed=2), encoding="utf-8")
    return path


@pytest.fixture
def train_sentences(train_file) -> list[TaggedSentence]:
    return read_columns(train_file, TaggerSettings())


@pytest.fixture
def dev_sentences(dev_file) -> list[TaggedSentence]:
    return read_columns(dev_file, TaggerSettings())


@pytest.fixture
def golden_arrays(request, golden_folder) -> Callable[[str], dict[str, torch.Tensor]]:
    """What a golden file of tasks holds; the large ones are among the shared data."""

    def read(name: str) -> dict[str, torch.Tensor]:
        path = golden_folder / "tasks" / f"{name}.npz"
        if not path.is_file():
            path = request.getfixturevalue("shared") / "golden" / "tasks" / f"{name}.npz"
        with np.load(path, allow_pickle=False) as found:
            return {key: torch.from_numpy(found[key]) for key in found.files}

    return read


@pytest.fixture
def bilm_folder(tmp_path, tiny_bilm) -> Path:
    """A tiny biLM as a model folder."""
    tiny_bilm.save_pretrained(tmp_path / "bilm")
    return tmp_path / "bilm"


@pytest.fixture
def bilm(tiny_bilm) -> BiLM:
    return tiny_bilm
