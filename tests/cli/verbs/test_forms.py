"""Every verb that takes text sees the form of a file, and refuses what isn't text before it makes anything."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from elmo.cli.main import main
from elmo.embed.storage.readers import read_vectors

COLUMNS = "-DOCSTART- -X- O\n\nthe DT O\nbank NN B-ORG\nwas VBD O\nsteep JJ O\n. . O\n\nthe DT O\nbank NN B-ORG\n"
WORDS = ["the", "bank", "was", "steep", ".", "the", "bank"]
SMALL = ["--hidden-sizes", "4", "--epochs", "1", "--seeds", "1"]
REFUSED = {
    "words.json": (json.dumps(["the", "bank"], indent=1), "is a flat list of words"),
    "squad.json": (json.dumps({"data": [{"title": "the bank"}]}, indent=1), "squad.json:1: not valid JSON"),
    "p.fasta": (">P1 the\nMKTAYIAK\n>P2 bank\n\n", "p.fasta:3: the protein 'P2' has no letters"),
    "withheld.conllu": ("".join(f"{i}\t_\t_" + "\t_" * 7 + "\n" for i in (1, 2, 3)), "Of a treebank with"),
    "ragged.conll": ("the DT\nbank\n", "ragged.conll:2: has one column"),
    "mac.txt": ("the bank .\rthe bank .\r", "has a carriage return"),
    "table.parquet": ("PAR1", "it isn't a Parquet file"),
}


def verbs(folder: Path, model: Path, text: Path) -> dict[str, list[str]]:
    """The command of each verb that reads a text, of those whose libraries are here."""
    needs = {"static": "gensim", "explore": "starlette"}
    found = {
        "embed": ["embed", str(text), "-o", str(folder / "v.npy"), "-m", str(model)],
        "prepare": ["prepare", str(text), "-o", str(folder / "data")],
        "perplexity": ["perplexity", str(model), str(text)],
        "scores": ["scores", str(text), "-m", str(model)],
        "static": ["static", str(text), "-o", str(folder / "v.txt"), "--min-count", "1"],
        "index": ["index", str(text), "-o", str(folder / "index"), "-m", str(model)],
        "explore": ["explore", "-m", str(model), "--text", str(text), "--publish-text", "--export", f"{folder}/page"],
    }
    return {verb: command for verb, command in found.items() if verb not in needs or find_spec(needs[verb])}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_text_is_refused_by_every_verb(tmp_path, model_folder, capsys, name):
    content, message = REFUSED[name]
    (tmp_path / name).write_bytes(content.encode())
    before = sorted(tmp_path.iterdir())
    for verb, command in verbs(tmp_path, model_folder, tmp_path / name).items():
        assert main([*command, "--quiet"]) == 2, verb
        assert message in capsys.readouterr().err, verb
        assert sorted(tmp_path.iterdir()) == before, verb


@pytest.mark.filterwarnings("always::elmo.errors.TextWarning")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("".join(f"{i}\tthe bank was steep .\n" for i in range(9)), "but 100% of its lines have tabs between words"),
        ("{'text': ['the', 'bank']}\n" * 9, "but 67% of its tokens are neither words nor marks"),
    ],
)
def test_more_than_text_is_warned_of_once_even_if_notes_are_not_wanted(
    tmp_path, model_folder, capsys, content, message
):
    text = tmp_path / "text.txt"
    text.write_text(content, encoding="utf-8")
    for verb, command in verbs(tmp_path, model_folder, text).items():
        if verb in ("embed", "prepare", "perplexity", "scores"):
            assert main([*command, "--quiet"]) == 0
            told = capsys.readouterr().err
            assert told.count("text.txt is read as text, but") == 1 and message in told, verb


def test_bad_lines_stop_every_verb_or_are_listed_once(tmp_path, model_folder, capsys):
    text = tmp_path / "text.txt"
    text.write_bytes(b"the bank was steep .\nthe bank\ncaf\xe9\n" + b"bank\n" * 9)
    for verb, command in verbs(tmp_path, model_folder, text).items():
        if verb != "explore":  # which has no --errors
            assert main([*command, "--quiet"]) == 2, verb
            assert f"{text}:3: not valid UTF-8" in capsys.readouterr().err, verb
            assert main([*command, "--quiet", "--errors", "skip"]) == 1, verb
            assert capsys.readouterr().err.count(f"skipped: {text}:3: not valid UTF-8") == 1, verb


def test_columns_of_a_text_file_are_read_by_every_verb(tmp_path, model_folder, capsys):
    text = tmp_path / "eng.txt"
    text.write_text(COLUMNS, encoding="utf-8")
    for verb, command in verbs(tmp_path, model_folder, text).items():
        if verb not in ("static", "explore"):  # which need more text than this
            assert main([*command, "--quiet"]) == 0, capsys.readouterr().err
            out, err = capsys.readouterr()
            assert (bool(out), err) == (verb in ("perplexity", "scores"), "")
    with read_vectors(tmp_path / "v.npy") as vectors:
        assert [token for row in range(len(vectors)) for token in vectors.row(row).tokens] == WORDS
    assert (tmp_path / "data" / "vocab.txt").read_text().split()[3:] == ["bank", "the", ".", "steep", "was"]


def test_a_tagger_reads_the_words_of_columns_and_not_their_tags(tmp_path, capsys):
    pytest.importorskip("torch")
    train = tmp_path / "train.conll"
    train.write_text(COLUMNS, encoding="utf-8")
    command = ["task", "train", "ner", "--train", str(train), "--dev", str(train), "-o", str(tmp_path / "run")]
    assert main([*command, "--encoder", "none", *SMALL, "--quiet"]) == 0
    for name, (content, message) in REFUSED.items():
        (tmp_path / name).write_bytes(content.encode())
        assert main(["task", "predict", str(tmp_path / "run"), str(tmp_path / name)]) == 2, name
        assert message in capsys.readouterr().err
    tree = tmp_path / "tree.txt"
    tree.write_text("# text = the bank\n1\tthe" + "\t_" * 8 + "\n2\tbank" + "\t_" * 8 + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["task", "predict", str(tmp_path / "run"), str(tree)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line] == ["the", "bank"]
    (tmp_path / "u32.conll").write_bytes(COLUMNS.encode("utf-32"))
    (tmp_path / "ko.conll").write_bytes("비가 O\n왔다 O\n".encode("cp949"))
    for name, message in (("u32.conll", "not valid UTF-8"), ("ko.conll", "cp949")):
        command[4] = str(tmp_path / name)
        assert main([*command[:-1], str(tmp_path / "other"), "--encoder", "none", "--quiet"]) == 2
        told = capsys.readouterr().err
        assert message in told


@pytest.mark.filterwarnings("always::elmo.errors.TextWarning")
def test_faulty_rows_of_static_vectors_can_be_left_out(tmp_path, capsys):
    (tmp_path / "v.txt").write_text("the 1 2\nbank 1 x\n", encoding="utf-8")
    pytest.importorskip("torch")
    train = tmp_path / "train.conll"
    train.write_text(COLUMNS, encoding="utf-8")
    command = ["task", "train", "ner", "--train", str(train), "--dev", str(train), "--encoder", "none", *SMALL]
    command += ["--static", str(tmp_path / "v.txt"), "--quiet", "-o", str(tmp_path / "run")]
    assert main(command) == 2
    assert "leave such rows out with --static-errors skip" in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "second"), "--static-errors", "skip"]) == 0
    assert "warning: rows left out: 1. The first: " in capsys.readouterr().err
