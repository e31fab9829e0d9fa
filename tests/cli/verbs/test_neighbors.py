"""`elmo index` and `elmo neighbors` on tiny files: pages, JSON, records, and errors before work begins."""

import json
import unicodedata

import pytest

from elmo.cli.verbs import index, neighbors
from elmo.errors import ConfigError, OutputError, TextError

BEGINNING = {"analysis", "date", "command", "elmo", "commit", "machine", "model", "model_hash", "dtype", "static"}
SENTENCES = ["the bank was steep .", "the bank lent money", "a river was steep", "밥 을 먹었다"]


@pytest.fixture
def folder(model_folder, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join([*SENTENCES, ""]) + "\n", encoding="utf-8")
    command = [str(tmp_path / "text.txt"), "-o", str(tmp_path / "index"), "-m", str(model_folder), "--quiet"]
    assert index.main(command) == 0
    return tmp_path / "index"


def test_an_index_reports_what_it_holds(model_folder, tmp_path, capsys, stdin):
    stdin(b"the bank\n\xff\na b c\n")
    command = ["-", "-o", str(tmp_path / "i"), "-m", str(model_folder), "--json", "--quiet", "--errors", "skip"]
    assert index.main(command) == 1
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert (facts["num_tokens"], facts["num_sentences"], facts["num_layers"]) == (5, 2, 3)
    assert "skipped: stdin:2" in told.err


@pytest.mark.parametrize("named", ["by a path", "by the variable"])
def test_an_index_knows_its_model_from_any_folder(model_folder, tmp_path, monkeypatch, named):
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    monkeypatch.chdir(model_folder.parent)
    if named == "by the variable":
        monkeypatch.setenv("ELMO_MODEL", model_folder.name)
    model = ["-m", model_folder.name] if named == "by a path" else []
    assert index.main([str(tmp_path / "text.txt"), "-o", str(tmp_path / "index"), *model, "--quiet"]) == 0
    monkeypatch.delenv("ELMO_MODEL", raising=False)
    monkeypatch.chdir(tmp_path / "index")
    assert neighbors.main([".", "the [bank] is here"]) == 0


def test_a_sentence_is_read_as_the_text_was(folder, capsys):
    for form in ("NFC", "NFD"):  # the tokenizer takes 's off composed letters alone
        sentence = unicodedata.normalize(form, "the [bänk] is Zoë's")
        assert neighbors.main([str(folder), sentence]) == 0
    captured = capsys.readouterr()
    first, second = captured.out.split("the [bänk] is Zoë 's")[1:]
    assert first.strip() == second.strip() and "It is read in NFC" in captured.err


def test_neighbors_as_json_have_sentences_and_cosines(folder, tmp_path, capsys):
    (tmp_path / "static.txt").write_text("bank 1 0\nriver 0 1\nmoney 1 0.1\n")
    command = [str(folder), "the [bank] is here", "--json", "--static", str(tmp_path / "static.txt")]
    assert neighbors.main(command) == 0
    record = json.loads(capsys.readouterr().out)
    assert record.keys() >= BEGINNING and record["data"]["index"]["file"] == "index.json"
    (found,) = record["queries"]
    assert found["static"][0][0] == "money" and found["place"] == 1
    same = found["layers"][2]["same"]
    assert {hit["word"] for hit in same} == {"bank"} and {hit["line"] for hit in same} == {1, 2}


def test_what_can_not_be_searched_is_told(folder, tmp_path):
    with pytest.raises(TextError, match="is missing, so this is no index"):
        neighbors.main([str(tmp_path), "the [bank]"])
    with pytest.raises(ConfigError, match="0 tokens in brackets"):
        neighbors.main([str(folder), "the bank"])


def test_neighbors_are_shown_for_every_layer_and_their_record_is_replaced_with_force_alone(folder, tmp_path, capsys):
    out = tmp_path / "out.json"
    command = [str(folder), "the [bank] is here", "--top", "2", "-o", str(out)]
    assert neighbors.main(command) == 0
    page = capsys.readouterr().out
    assert page.startswith("the [bank] is here\n\nlayer 0: the word alone\n")
    assert "layer 2" in page and "[bank] lent money" in page
    assert json.loads(out.read_text("utf-8"))["analysis"] == "neighbors"
    with pytest.raises(OutputError, match="exists"):
        neighbors.main(command)
    assert neighbors.main([*command, "--force"]) == 0
