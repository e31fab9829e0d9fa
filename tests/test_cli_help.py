"""`--help`: lists every verb, works for each, and does not wait for torch."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import elmo
from elmo.cli import verbs
from elmo.cli.examples import EXAMPLES
from elmo.cli.main import VERBS, main

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(elmo.__file__).parents[1])}
# What takes long to import.
HEAVY = {"torch", "h5py", "huggingface_hub", "pyarrow", "sklearn", "matplotlib"}


def loaded_by(*arguments: str) -> tuple[str, set[str]]:
    """What `elmo ARGUMENTS` prints in a process of its own, and the top-level modules it loads."""
    code = (
        "import sys\nfrom elmo.cli.main import main\n"
        "try:\n    code = main(sys.argv[1:])\nexcept SystemExit as end:\n    code = end.code\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\nsys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    return result.stdout, set(result.stderr.split())


def test_every_verb_is_a_file_or_folder_and_each_of_them_is_listed():
    folder = Path(verbs.__file__).parent
    files = {path.stem: path for path in folder.glob("*.py") if path.stem != "__init__"}
    files |= {path.parent.name: path for path in folder.glob("*/__init__.py")}
    assert set(files) == set(VERBS)
    for path in files.values():
        assert "def main(argv: list[str]) -> int:" in path.read_text("utf-8"), path


def test_help_lists_every_verb_with_its_line(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for verb, line in VERBS.items():
        assert any(shown.split() == [verb, *line.split()] for shown in lines), verb


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_first_help_loads_nothing_but_the_standard_library(flag):
    _, loaded = loaded_by(flag)
    assert loaded & (HEAVY | {"tyro", "numpy"}) == set()


def test_every_verb_has_help_and_does_not_wait_for_torch():
    code = """
import contextlib, io, json, sys
from elmo.cli.main import VERBS, main
found = {}
for verb in VERBS:
    with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.suppress(SystemExit):
        main([verb, "--help"])
    found[verb] = told.getvalue(), [name for name in sys.modules if "." not in name]
print(json.dumps(found))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    found = json.loads(result.stdout)
    assert set(found) == set(VERBS)
    for verb, (told, loaded) in found.items():  # after the verbs before it: the first one with a heavy module is named
        assert f"elmo {verb}" in told, verb
        assert set(loaded) & HEAVY == set(), verb


# Every --help there is, with the verb of its examples.
HELPS = {verb: verb.split() for verb in VERBS} | {
    "task train": ["task", "train", "ner"],
    "task evaluate": ["task", "evaluate"],
    "task predict": ["task", "predict"],
    "task score": ["task", "score", "ner"],
}


def help_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with suppress(SystemExit):
        main([*arguments, "--help"])
    return capsys.readouterr().out


def test_every_verb_and_action_has_an_example():
    assert set(EXAMPLES) == set(HELPS)
    assert all(any(line.startswith(f"elmo {verb}") for line in lines) for verb, lines in EXAMPLES.items())


@pytest.mark.parametrize("verb", HELPS)
def test_help_shows_the_examples_and_metavars_say_what_is_meant(verb, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = help_of(HELPS[verb], capsys)
    assert all(f"\n  {line}\n" in shown for line in EXAMPLES[verb])
    assert re.findall(r"\b(STR|PATH)\b|\{None|None\}|default: ?\)|default: None", shown) == []


@pytest.mark.parametrize("verb", HELPS)
def test_no_option_says_its_default_twice(verb, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # one column
    shown = " ".join(help_of(HELPS[verb], capsys).replace("│", " ").split())
    assert re.findall(r"\(default[^()]*\)\.? \(default[^()]*\)", shown) == []


@pytest.mark.parametrize("arguments", [["help", "task", "score", "ner"], ["help", "inspect"]])
def test_help_is_a_verb_too(arguments, capsys):
    asked = help_of(arguments[1:], capsys)
    with suppress(SystemExit):
        main(arguments)
    assert capsys.readouterr().out == asked != ""


def test_version_and_help_without_dashes(capsys):
    assert (main(["version"]), main(["help"])) == (0, 0)
    shown = capsys.readouterr().out
    assert shown.startswith(f"elmo {elmo.__version__}\nusage: elmo VERB")
