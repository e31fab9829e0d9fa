"""`elmo embed` on text as people have it: raw, in tables, in other languages."""

import json
import warnings

import numpy as np
import pytest

from elmo.cli import main as command_line
from elmo.cli.verbs.embed import main
from elmo.embed.storage.readers import read_vectors

RAW = "It rained, she said. We stayed (in London).\n"
KOREAN = "은행에서 돈을 찾았다. 그리고 집에 갔다.\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def told(capsys):
    """Runs `elmo embed` with its warnings shown; what standard error then has."""

    def run(arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert command_line.main(["embed", *arguments]) == 0
        return capsys.readouterr().err

    return run


def test_raw_text_is_taken_apart_and_that_is_said_once(model, tmp_path, told):
    raw = write(tmp_path / "raw.txt", RAW)
    for arguments, what in (
        ([raw, "-o", str(tmp_path / "v.npy")], "note: "),
        ([raw, "-o", str(tmp_path / "w.npy"), "--tokenizer", "whitespace", "--quiet"], "warning: "),
        (["It rained, she said."], "note: "),
    ):
        found = told(arguments)
        assert what in found
        assert found.count("'rained,' is one word") == 1


def test_a_text_in_another_language_is_warned_of(tmp_path, monkeypatch, told):
    monkeypatch.delenv("ELMO_MODEL", raising=False)
    korean, english = write(tmp_path / "ko.txt", KOREAN * 3), write(tmp_path / "en.txt", RAW * 9)
    output = ["-o", str(tmp_path / "v.npy"), "--quiet", "--force"]
    for arguments, expected in (
        ([korean, *output], "100% of its letters are Hangul"),
        ([english, "-m", "small-ko", *output], "100% of its letters are Latin"),
        ([KOREAN, "--quiet"], "the text is not in the model's language"),
        ([korean, "-m", "small-ko", *output], ""),
        ([english, *output], ""),
    ):
        found = told(arguments)
        assert expected in found
        assert bool(found) == bool(expected)


def test_every_format_of_text_is_read(model, tmp_path, capsys):
    names = [
        write(tmp_path / "a1.csv", 'id,body\n1,"one, two"\n'),
        write(tmp_path / "a2.jsonl", '{"body": "three"}\n'),
        write(tmp_path / "a3.conll", "four X\n\n"),
    ]
    assert main([*names, "-o", str(tmp_path / "v.npy"), "--field", "body", "--tokenizer", "unicode", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == 3
    with read_vectors(tmp_path / "v.npy") as vectors:
        assert [vectors.row(row).tokens for row in range(3)] == [["one", ",", "two"], ["three"], ["four"]]
    assert main([str(tmp_path / "a[12].*"), "-o", str(tmp_path / "w.npy"), "--field", "body", "--quiet"]) == 0
    with read_vectors(tmp_path / "w.npy") as vectors:
        assert len(vectors) == 2


def test_json_lines_are_readable_and_lead_back_to_the_text(model, stdin, capsys):
    text = RAW + "\n" + KOREAN
    stdin(text.encode())
    assert main(["-", "--sentences", "within-lines", "--layers", "top"]) == 0
    told = capsys.readouterr()
    assert "은행에서" in told.out
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [(row["line"], row["sentence"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2)]
    lines = text.split("\n")
    for row in rows:
        assert [lines[row["line"] - 1][start:end] for start, end in row["spans"]] == row["tokens"]
        values = np.array(row["vectors"], np.float32).reshape(row["shape"])
        assert json.dumps(row["vectors"]) == json.dumps([[float(str(it)) for it in vector] for vector in values])


def test_sentences_of_a_text_continue_one_another_in_rows(model, capsys):
    command = ["It rained. " * 3, *["--sentences", "within-lines", "--state", "carry", "--json", "--quiet"]]
    found = {}
    for rows in (1, 2, 64):
        assert main([*command, "--batch-rows", str(rows)]) == 0
        found[rows] = [json.loads(line)["vectors"] for line in capsys.readouterr().out.splitlines()]
    assert found[64][0] == found[64][1] == found[64][2]
    assert found[1][0] != found[1][1] != found[1][2]
    assert found[2][0] == found[2][1] != found[2][2]
