"""`elmo-paper context2vec` as it is typed."""

import json

import pytest

from elmo.errors import ConfigError, OutputError, TextError
from elmo_paper.cli.verbs.context2vec import main
from elmo_paper.context2vec.files import FILES
from elmo_paper.context2vec.network import Context2VecEncoder

SMALL = ("--unit", "4", "--epochs", "2")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The cat sat\nthe dog sat\n" * 30, encoding="utf-8")
    return path


def test_a_text_becomes_a_model(tmp_path, text, capsys, terminal, on_terminal):
    output = tmp_path / "new" / "model"
    assert on_terminal(main, [str(text), "-o", str(output), *SMALL, "--json"]) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert {"words": 7, "dim": 8, "tokens": 180, "sentences": 60}.items() <= report.items()
    assert report["nats_per_token"][1] < report["nats_per_token"][0]
    assert any(line.startswith("training: 100%") for line in terminal.screen)
    assert {path.name for path in output.iterdir()} == FILES
    encoder = Context2VecEncoder.load(output)
    assert (encoder.words[3:], encoder.layer_dim) == (("sat", "the", "cat", "dog"), 8)


def test_an_existing_folder_is_kept_without_force_and_by_a_failure(tmp_path, text, capsys):
    output = tmp_path / "model"
    assert main([str(text), "-o", str(output), *SMALL, "--quiet"]) == 0
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    with pytest.raises(OutputError, match="exists already"):
        main([str(text), "-o", str(output), *SMALL])
    with pytest.raises(TextError, match="none of the 4 distinct words"):
        main([str(text), "-o", str(output), *SMALL, "--force", "--min-count", "1000"])
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
    assert main([str(text), "-o", str(output), *SMALL, "--force", "--quiet", "--no-deep"]) == 0
    assert capsys.readouterr().out == ""
    assert not Context2VecEncoder.load(output).network.sizes.is_deep
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "model"}


def test_a_training_that_diverges_leaves_nothing(tmp_path, text):
    with pytest.raises(ConfigError, match="diverged"):
        main([str(text), "-o", str(tmp_path / "model"), *SMALL, "--quiet", "--learning-rate", "1e38"])
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt"}
