"""What the tests of every library start from: a tiny model by its path, one thread, and guides that are run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "integrations"


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> Path:
    """A working folder of the test's own."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path / "work"


@pytest.fixture
def tiny_model(tmp_path: Path, tiny_bilm) -> str:
    """The path of a model of three layers and 16 dimensions, which loads at once."""
    tiny_bilm.save_pretrained(tmp_path / "tiny")
    return str(tmp_path / "tiny")


@pytest.fixture
def tiny_model_of_words(tiny_model: str) -> str:
    """The same with a list of words, which has only plain quotes."""
    Path(tiny_model, "vocab.txt").write_text("<S>\n</S>\n<UNK>\n\"\n'\nthe\n", encoding="utf-8")
    return tiny_model


@pytest.fixture
def other_model(tmp_path: Path, tiny_bilm) -> str:
    """A model of the same shape with other weights."""
    import torch

    with torch.no_grad():
        for parameter in tiny_bilm.parameters():
            parameter.mul_(0.5)
    tiny_bilm.save_pretrained(tmp_path / "other")
    return str(tmp_path / "other")


@pytest.fixture
def run_guide(quiet_place: Path, load_script) -> Callable[..., dict[str, Any]]:
    """Runs a guide of docs/integrations in the test's folder, as tests/integrations/guide.py says."""
    guide = load_script("tests/integrations/guide.py")
    return lambda name, **names: guide.run(GUIDES / name, names)
