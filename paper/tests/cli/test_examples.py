"""Every example in the help of `elmo-paper` is shown there, and read without complaint."""

import pytest

from elmo_paper.cli.examples import EXAMPLES
from elmo_paper.cli.main import main


@pytest.mark.parametrize("verb", EXAMPLES)
def test_help_shows_the_examples(verb, capsys):
    words = verb.split() if " " in verb else [verb, "table2", "ner"]
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: elmo-paper {verb}")
    assert all(f"\n  {line}\n" in shown for line in EXAMPLES[verb])
