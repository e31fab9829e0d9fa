"""`elmo perplexity` as it is typed."""

import json
import math

import pytest

from elmo.cli.verbs.perplexity import main
from elmo.errors import OutputError
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate

SENTENCES = ["the bank was steep .", "", "the zebra", "bank"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def expected(language_model):
    return evaluate(EngineLanguageModel(language_model), [sentence.split() for sentence in SENTENCES if sentence])


def test_json_equals_the_library(model_folder, text, expected, capsys):
    assert main([str(model_folder), str(text), "--json", "--quiet"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert json.loads(told.out) == {"text": str(text), **expected.to_dict()}


def test_the_table_goes_to_stdout_and_progress_to_stderr(model_folder, text, expected, capsys, terminal, on_terminal):
    assert on_terminal(main, [str(model_folder), str(text)]) == 0
    told = capsys.readouterr()
    rows = dict(line.rsplit(maxsplit=1) for line in told.out.splitlines())
    for name in ("forward", "backward", "mean"):
        assert rows[f"{name} perplexity"] == f"{expected.of(name):.2f}"
    assert rows["tokens"] == "8"
    assert rows["not in vocabulary"] == "12.50%"
    assert rows["bits per character"] == f"{expected.bits_per_character:.3f}"
    assert rows["listed words alone"] == f"{expected.kinds['listed'].perplexity('mean'):.2f}"
    assert rows["perplexity of <UNK>"] == f"{expected.kinds['unknown'].perplexity('mean'):.2f}"
    assert "by their beginning" not in rows
    assert "3 of 3 sentences" in terminal.screen[0]


def test_each_sentence_has_its_line_and_they_make_the_whole(model_folder, text, expected, capsys):
    assert main([str(model_folder), str(text), "--per-sentence", "--json", "--quiet"]) == 0
    facts = json.loads(capsys.readouterr().out)
    each = facts.pop("each")
    assert [one["line"] for one in each] == [1, 3, 4]
    assert [one["tokens"] for one in each] == [5, 2, 1]
    assert [one["unknown_share"] for one in each] == [0, 0.5, 0]
    assert facts.pop("text") == str(text)
    assert facts == pytest.approx(expected.to_dict(), rel=1e-9)
    nats = sum(one["nats_per_token"] * one["predictions"] for one in each)
    assert math.exp(nats / facts["predictions"]) == pytest.approx(expected.of("mean"), rel=1e-9)
    assert main([str(model_folder), str(text), "--per-sentence", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["line", "tokens", "forward", "backward", "mean"]
    assert [line.split()[0] for line in lines[1:4]] == ["1", "3", "4"]


def test_a_dash_reads_standard_input(model_folder, expected, stdin, capsys):
    stdin("\n".join(SENTENCES).encode())
    assert main([str(model_folder), "-", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "stdin", **expected.to_dict()}


def test_bad_lines_that_are_skipped_do_not_count(model_folder, text, expected, capsys):
    text.write_bytes("\n".join(SENTENCES).encode() + b"\ncaf\xe9\n")
    assert main([str(model_folder), str(text), "--quiet", "--errors", "skip", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["mean_perplexity"] == expected.of("mean")


def test_tokens_are_written_to_a_file_that_is_not_overwritten(tmp_path, model_folder, text, expected, capsys):
    arguments = [str(model_folder), str(text), "--quiet", "--json", "--per-token", str(tmp_path / "tokens.jsonl")]
    assert main(arguments) == 0
    lines = [json.loads(line) for line in (tmp_path / "tokens.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["line"] for line in lines] == [1, 3, 4]
    assert [line["tokens"] for line in lines] == [sentence.split() for sentence in SENTENCES if sentence]
    assert [line["unknown"] for line in lines] == [[], [1], []]
    for direction in ("forward", "backward"):
        nats = sum(sum(line[direction]) + line[f"{direction}_boundary"] for line in lines)
        assert math.exp(nats / expected.num_predictions) == pytest.approx(expected.of(direction), rel=1e-4)
    assert json.loads(capsys.readouterr().out) == {"text": str(text), **expected.to_dict()}
    with pytest.raises(OutputError, match="--force"):
        main(arguments)
    assert main([*arguments, "--force"]) == 0


def test_the_default_model_is_used_where_none_is_named(model_folder, text, expected, capsys, monkeypatch):
    monkeypatch.setenv("ELMO_MODEL", str(model_folder))
    assert main([str(text), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["mean_perplexity"] == expected.of("mean")


def test_several_files_of_any_format_are_one_text(model_folder, tmp_path, expected, capsys):
    (tmp_path / "a.txt").write_text("the bank was steep .\nthe zebra\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": ["bank"]}\n', encoding="utf-8")
    files = [str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl")]
    assert main([*files, "-m", str(model_folder), "--json", "--quiet"]) == 0
    assert expected.to_dict().items() <= json.loads(capsys.readouterr().out).items()


def test_sentences_of_several_files_are_told_apart_by_their_file(model_folder, tmp_path, capsys, monkeypatch):
    names = ["a", "longer.txt"]
    monkeypatch.chdir(tmp_path)
    for name in names:
        (tmp_path / name).write_text("the bank\nbank\n", encoding="utf-8")
    tokens = tmp_path / "tokens.jsonl"
    flags = ["-m", str(model_folder), "--per-sentence", "--quiet"]
    assert main([*names, *flags, "--per-token", str(tokens), "--json"]) == 0
    expected = [(name, line) for name in names for line in (1, 2)]
    assert [(one["file"], one["line"]) for one in json.loads(capsys.readouterr().out)["each"]] == expected
    lines = map(json.loads, tokens.read_text("utf-8").splitlines())
    assert [(line["file"], line["line"]) for line in lines] == expected
    assert main([*names, *flags]) == 0
    rows = capsys.readouterr().out.splitlines()[:5]
    assert rows[0].split()[:3] == ["file", "line", "tokens"] and len({len(row) for row in rows}) == 1
    assert [(row.split()[0], int(row.split()[1])) for row in rows[1:]] == expected


def test_raw_text_is_tokenized_and_that_is_said(model_folder, tmp_path, capsys):
    (tmp_path / "raw.txt").write_text("the bank was steep.\n", encoding="utf-8")
    assert main([str(model_folder), str(tmp_path / "raw.txt"), "--json", "--per-sentence"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["tokens"] == 5
    assert "looks untokenized ('steep.' is one word" in told.err
