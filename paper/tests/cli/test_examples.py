"""Every example in the help of `elmo-paper` is shown there, and read without complaint."""

import shlex

import pytest

from elmo_paper.cli.examples import EXAMPLES
from elmo_paper.cli.main import main


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_every_example_is_read_without_complaint(line, monkeypatch):
    read = []

    def parsed(*_: object, **options: object) -> None:
        read.append(options["prog"])
        raise SystemExit(0)

    monkeypatch.setattr("tyro.cli", parsed)
    program, *words = shlex.split(line)
    with pytest.raises(SystemExit):
        main(words)
    assert read[0].startswith(f"{program} {words[0]}")


@pytest.mark.parametrize("verb", EXAMPLES)
def test_help_shows_the_examples(verb, capsys):
    words = verb.split() if " " in verb else [verb, "table2", "ner"]
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: elmo-paper {verb}")
    assert all(f"\n  {line}\n" in shown for line in EXAMPLES[verb])
