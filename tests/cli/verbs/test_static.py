"""`elmo static` as it is typed."""

import json

import pytest

from elmo.cli.verbs.static import main
from elmo.errors import OutputError, TextError
from elmo.static.vectors import read_static_vectors

pytest.importorskip("gensim")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The cat sat\nthe dog sat\n" * 30, encoding="utf-8")
    return path


def command(text, output, *more):
    return [str(text), "-o", str(output), "--kind", "word2vec", "--dim", "6", "--epochs", "2", *more]


def test_a_text_becomes_a_file_of_vectors(tmp_path, text, capsys, terminal, on_terminal):
    output = tmp_path / "new" / "vectors.txt"
    assert on_terminal(main, command(text, output, "--lower-case", "--json")) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert {"words": 4, "dim": 6, "tokens": 180, "sentences": 60}.items() <= report.items()
    assert any(line.startswith("training: 100%") for line in terminal.screen)
    found = read_static_vectors(output)
    assert (found.words, found.dim) == (("sat", "the", "cat", "dog"), 6)
    assert [path.name for path in output.parent.iterdir()] == ["vectors.txt"]


def test_an_existing_file_is_kept_without_force_and_by_a_failure(tmp_path, text, capsys):
    output = tmp_path / "vectors.txt"
    output.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        main(command(text, output))
    with pytest.raises(TextError, match="none of the 5 distinct words"):
        main(command(text, output, "--force", "--min-count", "1000"))
    assert output.read_text() == "mine"
    assert main(command(text, output, "--force", "--quiet")) == 0
    assert capsys.readouterr().out == ""
    assert len(read_static_vectors(output)) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "vectors.txt"}
