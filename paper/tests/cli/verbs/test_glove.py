"""`elmo-paper glove` as it is typed."""

import json

import pytest

from elmo.errors import OutputError
from elmo.static.vectors import read_static_vectors
from elmo_paper.cli.verbs.glove import main


def test_a_text_becomes_a_file_of_vectors(tmp_path, capsys):
    text, output = tmp_path / "text.txt", tmp_path / "new" / "vectors.txt"
    text.write_text("The cat sat\nthe dog sat\n" * 30, encoding="utf-8")
    command = [str(text), "-o", str(output), "--dim", "6", "--epochs", "2"]
    assert main([*command, "--lower-case", "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"words": 4, "dim": 6, "tokens": 180, "sentences": 60}.items() <= report.items()
    assert read_static_vectors(output).words == ("sat", "the", "cat", "dog")
    with pytest.raises(OutputError, match="exists already"):
        main(command)
    assert main([*command, "--force"]) == 0
    assert "5 words of dimension 6, from 180 tokens" in capsys.readouterr().out
