"""A tiny sense-annotated corpus: "bank" has two senses, "river" one, and some words are never seen."""

import shutil
from pathlib import Path

import pytest

from elmo_paper.analysis.senses.files import SenseFiles

CORPUS = Path(__file__).with_name("corpus")


@pytest.fixture
def files(tmp_path: Path) -> SenseFiles:
    """Training corpus, one test set, inventory; copies that a test may damage."""
    folder = shutil.copytree(CORPUS, tmp_path / "corpus")
    return SenseFiles(folder / "train.data.xml", (folder / "t.data.xml",), folder / "senses.tsv")
