"""elmo bench: a figure for each dtype and batch, beside the floor."""

import json

import pytest

from elmo.cli.verbs import bench
from elmo.errors import ConfigError


@pytest.fixture
def folder(tiny_bilm, tmp_path):
    """A tiny model's folder."""
    tiny_bilm.save_pretrained(tmp_path / "tiny")
    return str(tmp_path / "tiny")


def test_every_type_and_batch_gets_a_figure(folder, capsys):
    arguments = ["--model", folder, "--sentences", "6", "--rounds", "1", "--batches", "1", "4", "--json", "--quiet"]
    assert bench.main(arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    found = {(row["dtype"], row["batch"]) for row in figures["speeds"]}
    assert found == {(dtype, batch) for dtype in ("float32", "bfloat16", "int8") for batch in (1, 4)}
    for row in figures["speeds"]:
        assert row["words_per_second"] > 0
        assert row["share"] == pytest.approx(row["words_per_second"] / row["floor"])
    assert figures["peak_gflops"]["float32"] > 0
    assert figures["sentences"] == 6


def test_a_text_is_taken_as_it_is(folder, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("two words\n\nthree more words\n", encoding="utf-8")
    arguments = [str(text), "--model", folder, "--rounds", "1", "--batches", "2", "--dtypes", "int8", "--quiet"]
    assert bench.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "2 sentences, 5 words" in shown
    assert "int8" in shown


def test_impossible_numbers_and_texts_are_named(folder, tmp_path):
    with pytest.raises(ConfigError, match=r"--rounds must be at least 1 \(got 0\)"):
        bench.main(["--rounds", "0"])
    (tmp_path / "blank.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="no sentence to embed"):
        bench.main([str(tmp_path / "blank.txt"), "--model", folder])
