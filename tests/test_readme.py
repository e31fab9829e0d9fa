"""The README keeps its promises: its Python runs, its commands run, its tree is true."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from elmo.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\n" * 40


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone's, with a text of the user's own."""
    place = tmp_path_factory.mktemp("clone")
    for name in ("examples", "configs"):
        (place / name).symlink_to(ROOT / name)
    (place / "my-text.txt").write_text(TEXT, encoding="utf-8")
    (place / "my-held-out.txt").write_text("the dog sat on the mat\n", encoding="utf-8")
    return place


def test_the_page_works_from_top_to_bottom(place: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:
    """In one test, because the Python blocks use what the commands have made."""
    monkeypatch.chdir(place)
    _run_every_command()
    _run_every_python_block()


def _run_every_command() -> None:
    lines = [line for block in _blocks("sh") for line in block.splitlines() if line.startswith("elmo ")]
    assert len(lines) >= 9
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "pretrain":  # the page's minute is too long for a test
            words += ["--max-steps", "20", "--num-negative-samples", "5", "--evaluate-every", "0"]
        assert main(words) == 0, line


def _run_every_python_block() -> None:
    """Each prints what its comments say."""
    blocks = _blocks("python")
    assert len(blocks) >= 3
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "README.md", "exec"), {})
        promised = [line.split("# ", 1)[1] for line in block.splitlines() if line.startswith("print(")]
        for said, line in zip(promised, printed.getvalue().splitlines(), strict=True):
            assert said.startswith(line), block


def test_the_tree_names_every_room_and_no_other() -> None:
    tree = README.split("## The house")[1].split("```")[1]
    named = set(re.findall(r"^  (\w+)/", tree, flags=re.MULTILINE))
    rooms = {path.name for path in (ROOT / "src" / "elmo").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert named == rooms


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (ROOT / target).exists(), target
