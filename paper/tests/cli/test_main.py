"""`elmo-paper` is run by the frame of `elmo`, under its own name."""

from pathlib import Path

from elmo_paper.cli import verbs
from elmo_paper.cli.main import VERBS, main


def test_every_verb_is_a_file_or_folder_and_each_of_them_is_listed():
    folder = Path(verbs.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    files |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert files == set(VERBS)


def test_help_lists_every_verb_and_names_the_program(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "usage: elmo-paper VERB ..."
    for verb, line in VERBS.items():
        assert any(shown.split() == [verb, *line.split()] for shown in lines), verb
