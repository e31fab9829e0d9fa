"""The README, and the quick start that goes on from it, keep their promises: their Python runs, their commands run.

So do the lists of what there is: the rooms in CONTRIBUTING.md, the extras in docs/install.md.
"""

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from elmo.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
README, QUICK_START, INSTALL, CONTRIBUTING = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/quickstart.md", "docs/install.md", "CONTRIBUTING.md")
)
TEXT = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\n" * 40


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone's, with a text of the user's own."""
    place = tmp_path_factory.mktemp("clone")
    for name in ("examples", "configs"):
        (place / name).symlink_to(ROOT / name)
    (place / "my-text.txt").write_text(TEXT, encoding="utf-8")
    (place / "my-held-out.txt").write_text("the dog sat on the mat\n", encoding="utf-8")
    return place


@pytest.mark.parametrize(("page", "commands", "blocks"), [(README, 0, 2), (QUICK_START, 9, 3)], ids=["README", "quick"])
def test_a_page_works_from_top_to_bottom(page, commands, blocks, place, monkeypatch, one_thread):
    """In one test, because the Python blocks use what the commands have made."""
    monkeypatch.chdir(place)
    _run_every_command(page, commands)
    _run_every_python_block(page, blocks)


def _run_every_command(page: str, at_least: int) -> None:
    lines = [line for block in _blocks(page, "sh") for line in block.splitlines() if line.startswith("elmo ")]
    assert len(lines) >= at_least
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "pretrain":  # the page's minute is too long for a test
            words += ["--max-steps", "20", "--num-negative-samples", "5", "--evaluate-every", "0"]
        assert main(words) == 0, line


def _run_every_python_block(page: str, at_least: int) -> None:
    """Each prints what its comments say."""
    blocks = _blocks(page, "python")
    assert len(blocks) >= at_least
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "README.md or quickstart.md", "exec"), {})
        promised = [line.split("# ", 1)[1] for line in block.splitlines() if line.startswith("print(")]
        for said, line in zip(promised, printed.getvalue().splitlines(), strict=True):
            assert said.startswith(line), block


def test_the_tree_names_every_room_and_no_other():
    tree = CONTRIBUTING.split("## The house")[1].split("```")[1]
    named = set(re.findall(r"^  (\w+)/", tree, flags=re.MULTILINE))
    rooms = {path.name for path in (ROOT / "src" / "elmo").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert named == rooms


def test_the_table_of_extras_names_each_that_users_need():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = [line for line in INSTALL.splitlines() if line.startswith("| `.[")]
    named = {name for row in rows for name in re.findall(r"`\.\[([\w-]+)\]`", row.split("|")[1])}
    assert named == set(project["optional-dependencies"]) - {"dev", "test"}
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in INSTALL and "Python 3" in README


def test_what_the_tests_install_is_pinned():
    """A release of a library must not decide whether the tests of an unchanged commit pass."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = {_library(it) for it in (*project["dependencies"], *extras["hub"], *extras["test"], *extras["dev"])}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert asked - {"pyelmo"} <= {_library(line) for line in lines if "==" in line}


def _library(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def test_the_demo_prints_what_the_page_shows(place, load_script, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert load_script("examples/bank.py").main() == 0
    shown = README.split("`make demo` prints:")[1].split("```")[1].strip()
    printed = capsys.readouterr().out
    number = re.compile(r"\d\.\d{3}\b")
    assert number.sub("0.000", shown) in number.sub("0.000", printed)
    # The last digit may differ from processor to processor.
    assert list(map(float, number.findall(shown))) == pytest.approx(list(map(float, number.findall(printed))), abs=2e-3)


def test_the_readme_is_one_page():
    assert len(README.splitlines()) <= 120
    assert README.index("src/elmo/reference.py") < README.index("docs/how-elmo-works.md")
