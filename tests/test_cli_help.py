"""`--help`: lists every verb, works for each, and does not wait for torch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elmo
from elmo.cli import main as command_line
from elmo.cli.main import VERBS, main

SOURCE = Path(elmo.__file__).parents[1]
# What takes long to import.
HEAVY = {"torch", "h5py", "huggingface_hub", "pyarrow", "sklearn", "matplotlib"}


def loaded_by(*arguments: str) -> tuple[str, set[str]]:
    """What `elmo ARGUMENTS` prints in a process of its own, and the top-level modules it loads."""
    code = (
        "import sys\nfrom elmo.cli.main import main\n"
        "try:\n    code = main(sys.argv[1:])\nexcept SystemExit as end:\n    code = end.code\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\nsys.exit(code)"
    )
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, check=True
    )
    return result.stdout, set(result.stderr.split())


def test_every_verb_is_a_file_and_every_file_of_a_verb_is_listed():
    folder = Path(command_line.__file__).parent
    files = {
        path.stem for path in folder.glob("*.py") if "def main(argv: list[str]) -> int:" in path.read_text("utf-8")
    }
    assert files == set(VERBS)


def test_help_lists_every_verb_with_its_line(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for verb, line in VERBS.items():
        assert any(shown.split() == [verb, *line.split()] for shown in lines), verb


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_first_help_loads_nothing_but_the_standard_library(flag):
    _, loaded = loaded_by(flag)
    assert loaded & (HEAVY | {"tyro", "numpy"}) == set()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_does_not_wait_for_torch(verb):
    told, loaded = loaded_by(verb, "--help")
    assert f"elmo {verb}" in told
    assert loaded & HEAVY == set()
