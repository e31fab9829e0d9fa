"""What the tests of every library start from: a tiny model by its path, one thread, and guides that are run."""

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "integrations"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


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
def other_model(tmp_path: Path, tiny_bilm) -> str:
    """A model of the same shape with other weights."""
    import torch

    with torch.no_grad():
        for parameter in tiny_bilm.parameters():
            parameter.mul_(0.5)
    tiny_bilm.save_pretrained(tmp_path / "other")
    return str(tmp_path / "other")


@pytest.fixture
def run_guide(quiet_place: Path) -> Callable[..., dict[str, Any]]:
    """Runs the Python blocks of a guide in one namespace and compares what each prints with its comments.

    A block of another language whose first line is `# NAME` is written to the file of that name first.
    """

    def run(name: str, **names: Any) -> dict[str, Any]:
        found = _BLOCK.findall((GUIDES / name).read_text(encoding="utf-8"))
        assert any(language == "python" for language, _ in found), name
        for language, block in found:
            first, _, rest = block.partition("\n")
            if language != "python" and (file := re.fullmatch(r"# ([\w.-]+\.\w+)", first)):
                (quiet_place / file[1]).write_text(rest, encoding="utf-8")
            elif language == "python":
                _run(name, block, names)
        return names

    return run


def _run(name: str, block: str, names: dict[str, Any]) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, name, "exec"), names)
    promised = [line.split("  # ", 1)[1] for line in block.splitlines() if line.startswith("print(") and "  # " in line]
    lines = printed.getvalue().splitlines()
    assert not promised or promised == lines, block  # without a promise, what a trainer says is its own affair
