"""Unlabelled input is read as the training data are."""

import io
import sys
from types import SimpleNamespace

import pytest

from elmo.errors import TextError
from elmo.tasks.ner.task import TASK
from elmo.tasks.settings import with_table
from elmo.tasks.task import TextReading

SETTINGS = with_table(TASK.settings(), {"token_column": 2}, "here")
COLUMNS = "NNP Anna B-PER\nVBZ lives O\n\n"
TREEBANK = "1\tAnna\tanna\tPROPN\t_\t_\t0\troot\t_\t_\n\n"


def tokens(path, reading=None, settings=SETTINGS):
    return [example.tokens for example in TASK.read_unlabelled(path, settings, reading or TextReading())]


@pytest.mark.parametrize("name", ["file.conll", "file.txt", "file"])
def test_columns_have_their_tokens_where_the_training_data_have_them(tmp_path, name):
    (tmp_path / name).write_text(COLUMNS)
    assert [example.tokens for example in TASK.read(tmp_path / name, SETTINGS)] == [["Anna", "lives"]]
    assert tokens(tmp_path / name) == [["Anna", "lives"], []][: len(tokens(tmp_path / name))]


def test_a_column_that_is_named_comes_first(tmp_path):
    (tmp_path / "alone.conll").write_text("Anna\nlives\n")
    assert tokens(tmp_path / "alone.conll", TextReading(field="1")) == [["Anna", "lives"]]
    with pytest.raises(TextError, match=r"alone\.conll:1: .*column"):
        tokens(tmp_path / "alone.conll")


@pytest.mark.parametrize("text", ["Anna lives .\n", '{"text": "Anna lives ."}\n', COLUMNS])
def test_what_has_no_columns_is_read_as_ever_and_a_stream_as_a_file(tmp_path, monkeypatch, text):
    (tmp_path / "file").write_text(text)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    for path in (tmp_path / "file", "-")[: 1 if "{" in text else 2]:
        assert tokens(path)[0] == ["Anna", "lives", "."][: 2 if text == COLUMNS else 3]


@pytest.mark.parametrize("column", [1, 2])
def test_of_a_treebank_the_forms_are_read(tmp_path, column):
    (tmp_path / "file.conllu").write_text(TREEBANK)
    settings = with_table(TASK.settings(), {"token_column": column}, "here")
    assert tokens(tmp_path / "file.conllu", settings=settings) == [["Anna"]]
    lemmas = with_table(TASK.settings(), {"token_column": 3}, "here")
    assert tokens(tmp_path / "file.conllu", settings=lemmas)[0] == ["anna"]


def test_what_is_written_is_scored_wherever_the_tags_were(tmp_path):
    settings = with_table(TASK.settings(), {"tag_column": 1, "token_column": 3}, "here")
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text("B-PER NNP Anna\nO VBZ lives\n")
    pairs = [(example, example.spans) for example in TASK.read(gold, settings)]
    predicted.write_text("\n".join(TASK.write(pairs)))
    assert predicted.read_text().splitlines()[0] == "NNP Anna B-PER B-PER"
    assert TASK.score_files(gold, predicted, settings)["f1"] == 100


@pytest.mark.parametrize("tags", ["B-PER O B-LOC", "PER O LOC"])
def test_predictions_for_labels_without_prefixes_may_have_prefixes_or_not(tmp_path, tags):
    words = ["Anna", "saw", "Rome"]
    for name, own in (("gold", "PER O LOC"), ("predicted", tags)):
        rows = [f"{word} {tag}" for word, tag in zip(words, own.split(), strict=True)]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    settings = with_table(TASK.settings(), {"scheme": "io"}, "here")
    assert TASK.score_files(tmp_path / "gold", tmp_path / "predicted", settings)["f1"] == 100
