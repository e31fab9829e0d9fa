"""`elmo prepare` as it is typed."""

import json

import pytest

from elmo.cli.verbs.prepare import main
from elmo.corpus.shards import TrainingData
from elmo.errors import TextError


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("the cat sat\nthe dog\n")
    return path


def test_every_flag_reaches_the_data(tmp_path, text, capsys):
    words = tmp_path / "more.txt"
    words.write_text("a new line\n")
    arguments = [str(text), str(words), "-o", str(tmp_path / "data"), "--valid", str(words), "--test", str(text)]
    arguments += ["--vocab-size", "5", "--min-count", "1", "--max-characters-per-token", "20", "--json", "--quiet"]
    assert main([*arguments, "--tokenizer", "unicode", "--encoding", "latin-1", "--errors", "skip"]) == 0
    report = json.loads(capsys.readouterr().out)
    data = TrainingData.open(tmp_path / "data")
    assert data.report == report
    assert data.splits == ("train", "valid", "test")
    assert (len(data.vocabulary), data.max_characters_per_token, data.num_sentences("train")) == (5, 20, 3)
    assert report["settings"]["tokenizer"] == "unicode"
    assert report["settings"]["encoding"] == "latin-1"


def test_beginnings_reach_the_data_and_the_table(tmp_path, text, capsys):
    arguments = [str(text), "-o", str(tmp_path / "data"), "--vocab-size", "6", "--num-beginnings", "1"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "warning" not in told.err
    rows = [line.split() for line in told.out.splitlines()]
    # Listed are "the" and "cat"; "dog" and "sat" occur once each and share no beginning, so that neither has room.
    assert ["tokens", "by", "their", "beginning"] not in [row[:4] for row in rows]
    text.write_text("the the the cats cat cable\n")
    assert main([*arguments, "--force"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tokens", "by", "their", "beginning", "33.33%"] in rows
    assert TrainingData.open(tmp_path / "data").vocabulary.words[-1].startswith("ca")


def test_the_flags_for_raw_text_and_held_out_documents_reach_the_data(tmp_path, capsys):
    path = tmp_path / "rows"
    path.write_text("".join(json.dumps({"body": f"Row {number}. It's one."}) + "\n" for number in range(40)))
    arguments = [str(path), "-o", str(tmp_path / "data"), "--format", "jsonl", "--field", "body", "--workers", "2"]
    arguments += ["--sentences", "within-lines", "--tokenizer", "unicode", "--valid-share", "0.3", "--documents", "row"]
    assert main([*arguments, "--resume"]) == 0
    told = capsys.readouterr()
    data = TrainingData.open(tmp_path / "data")
    assert data.num_sentences("train") + data.num_sentences("valid") == 80
    assert "'s" in data.types()
    counted = [line.split()[1:] for line in told.out.splitlines() if line.startswith("documents")]
    assert sum(map(int, counted[0])) == 40


def test_a_vocabulary_in_another_order_is_a_warning_on_stderr_and_in_the_report(tmp_path, text, capsys):
    (tmp_path / "words").write_text("<S>\n</S>\n<UNK>\ncat\nthe\n")
    assert main([str(text), "-o", str(tmp_path / "data"), "--vocabulary", str(tmp_path / "words")]) == 0
    told = capsys.readouterr()
    warning = "warning: the vocabulary's order doesn't follow the training text, 1 times in 2 words: 'cat' (its word 4)"
    assert warning in told.err
    assert warning in told.out


def test_the_table_goes_to_stdout_and_progress_to_stderr(tmp_path, text, capsys, terminal, on_terminal):
    assert on_terminal(main, [str(text), "--output", str(tmp_path / "data")]) == 0
    told = capsys.readouterr()
    assert "7 words in the vocabulary, 6 word types" in told.out
    assert [line.split()[-1] for line in told.out.splitlines() if line.startswith("tokens  ")] == ["5"]
    assert [line.partition("|")[0] for line in terminal.screen if line] == [
        "reading: 100%",
        "counting words: 100%",
        "writing shards: 100%",
    ]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("#begin document (a)\na 0 0 In IN (TOP*\na 0 1 summer NN *\n\n#end document\n", ["--format", "conll"]),
        ("1;It rained .;x\n2;He slept .;y\n", ["--format", "csv", "--field", "2"]),
    ],
)
def test_standard_input_is_read_in_the_form_that_its_beginning_shows(tmp_path, stdin, text, flags):
    (tmp_path / "text").write_text(text * 9)
    stdin(text.encode() * 9)
    for name, source in (("file", str(tmp_path / "text")), ("stream", "-")):
        assert main([source, "-o", str(tmp_path / name), "--quiet", *flags]) == 0
    types = [(tmp_path / name / "types.json").read_bytes() for name in ("file", "stream")]
    assert types[0] == types[1]


def test_an_array_of_json_on_standard_input_is_refused(tmp_path, stdin):
    stdin(b'[{"text": "one line"},\n{"text": "two"}]\n')
    with pytest.raises(TextError, match="looks like one JSON array, but standard input and pipes are read"):
        main(["-", "-o", str(tmp_path / "data"), "--quiet", "--format", "jsonl"])


@pytest.mark.parametrize("name", ["raw.txt", "-"])
def test_raw_text_is_warned_of(tmp_path, capsys, stdin, name):
    path = tmp_path / "raw.txt"
    path.write_text("It rained, she said.\n" * 9, encoding="utf-8")
    stdin(path.read_bytes())
    assert main(["-" if name == "-" else str(path), "-o", str(tmp_path / "data"), "--quiet"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("warning: ")
    assert "'rained,' is one word" in told
    assert "Use the tokenizer unicode" in told
    assert main([str(path), "-o", str(tmp_path / "data"), "--quiet", "--tokenizer", "unicode", "--force"]) == 0
    assert "looks untokenized" not in capsys.readouterr().err
