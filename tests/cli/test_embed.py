"""`elmo embed` as it is typed."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from elmo.cli.embed import main
from elmo.embed.embedder import Embedder
from elmo.embed.storage.writers import read_vectors
from elmo.errors import ConfigError, Interrupted, OutputError, TextError, WeightFileError

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def model(tmp_path, tiny_bilm, monkeypatch) -> Path:
    """A model that $ELMO_MODEL names."""
    tiny_bilm.save_pretrained(tmp_path / "model")
    monkeypatch.setenv("ELMO_MODEL", str(tmp_path / "model"))
    return tmp_path / "model"


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sat\n\nthe dog\n", encoding="utf-8")
    return path


@pytest.fixture
def stdin(monkeypatch):
    """Sets standard input."""
    return lambda content: monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_a_file_becomes_a_file_of_vectors(model, text, tmp_path, tiny_bilm, capsys):
    assert main([str(text), "-o", str(tmp_path / "vectors.h5")]) == 0
    told = capsys.readouterr()
    assert "vectors.h5: 3 lines (1 blank, 0 bad), 5 tokens, layers all, float32" in told.out
    assert "embedding: 100%" in told.err
    with h5py.File(tmp_path / "vectors.h5") as file:
        np.testing.assert_array_equal(file["0"], Embedder(tiny_bilm).embed(["the cat sat", "", "the dog"])[0])


def test_every_flag_reaches_the_library(tmp_path, text, tiny_bilm, capsys):
    tiny_bilm.save_pretrained(tmp_path / "named")
    output = tmp_path / "vectors.bin"
    text.write_bytes(b"don't\ncaf\xe9\n")
    arguments = [str(text), "--output", str(output), "--model", str(tmp_path / "named"), "--layers", "0.5,0,0.5"]
    arguments += [
        "--format",
        "npy",
        "--dtype",
        "float32",
        "--store",
        "float16",
        "--state",
        "carry",
        "--batch-rows",
        "1",
    ]
    arguments += ["--tokenizer", "unicode", "--encoding", "latin-1", "--errors", "skip", "--keep-boundaries"]
    arguments += ["--forget-sentences", "--max-tokens", "100", "--device", "cpu", "--resume", "--json", "--quiet"]
    assert main(arguments) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert told.err == ""
    assert (report["lines"], report["tokens"]) == (2, 3)
    facts = {"layers": "0.5,0,0.5", "store": "float16", "state": "carry", "tokenizer": "unicode"}
    assert facts.items() <= report["metadata"].items()
    embedder = Embedder(tiny_bilm, state="carry", keep_boundaries=True)
    expected = embedder.embed([["do", "n't"]], [0.5, 0, 0.5]) + embedder.embed([["café"]], [0.5, 0, 0.5])
    np.testing.assert_allclose(np.load(output), np.concatenate(expected), rtol=0, atol=2e-3)
    with pytest.raises(OutputError, match="exists already"):
        main(arguments)
    assert main([*arguments, "--force"]) == 0


def test_quiet_says_nothing(model, text, tmp_path, capsys):
    assert main([str(text), "-o", str(tmp_path / "vectors.npy"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_skipped_lines_are_listed_and_end_with_1(model, text, tmp_path, stdin, capsys):
    text.write_bytes(b"ok\ncaf\xe9\nok\n")
    with pytest.raises(TextError, match=r"corpus.txt:2: not valid UTF-8.*--errors skip"):
        main([str(text), "-o", str(tmp_path / "vectors.npy"), "--quiet"])
    assert main([str(text), "-o", str(tmp_path / "vectors.npy"), "--quiet", "--errors", "skip"]) == 1
    assert f"skipped: {text}:2: not valid UTF-8" in capsys.readouterr().err
    with read_vectors(tmp_path / "vectors.npy") as vectors:
        assert [array.shape[1] for array in vectors] == [1, 0, 1]
    stdin(text.read_bytes())
    assert main(["-", "--layers", "top", "--errors", "skip"]) == 1
    told = capsys.readouterr()
    assert [json.loads(line)["shape"] for line in told.out.splitlines()] == [[1, 16], [0, 16], [1, 16]]
    assert "skipped: stdin:2" in told.err


def test_a_text_becomes_a_table(model, capsys):
    assert main(["Some text ."]) == 0
    told = capsys.readouterr()
    rows = told.out.splitlines()
    assert rows[0].split() == ["token", "layer", "0", "layer", "1", "layer", "2", "begins,", "layer", "2"]
    assert [row.split()[0] for row in rows[1:4]] == ["Some", "text", "."]
    assert rows[-1] == "layers, tokens, numbers: 3 x 3 x 16, float32"
    array = Embedder.from_pretrained(device="cpu").embed(["Some text ."])[0]
    assert rows[1].split()[1:4] == [f"{np.linalg.norm(array[layer, 0]):.3f}" for layer in range(3)]
    assert told.err == ""


def test_one_layers_table_has_boundaries_if_they_are_kept(model, capsys):
    assert main(["word", "--layers", "-1", "--keep-boundaries"]) == 0
    told = capsys.readouterr()
    assert [row.split()[0] for row in told.out.splitlines()[:4]] == ["token", "<S>", "word", "</S>"]
    assert "tokens, numbers: 3 x 16" in told.out
    assert "there is no file word, so it was taken for a text" in told.err


def test_a_text_becomes_json(model, tiny_bilm, capsys):
    assert main(["a b", "--json", "--layers", "average"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["tokens"], result["shape"]) == (["a", "b"], [2, 16])
    expected = Embedder(tiny_bilm).embed(["a b"], "average")[0]
    np.testing.assert_array_equal(np.array(result["vectors"], np.float32), expected)


def test_standard_input_becomes_json_lines_or_a_file(model, tiny_bilm, stdin, tmp_path, capsys):
    stdin(b"a b\n\nc\n")
    assert main(["-", "--layers", "top"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["index"], row["tokens"]) for row in rows] == [(0, ["a", "b"]), (1, []), (2, ["c"])]
    expected = Embedder(tiny_bilm).embed(["a b", "", "c"], "top")
    for row, array in zip(rows, expected, strict=True):
        np.testing.assert_allclose(np.array(row["vectors"]).reshape(array.shape), array, rtol=0, atol=2e-5)
    stdin(b"a b\n\nc\n")
    assert main(["-", "-o", str(tmp_path / "vectors.h5"), "--quiet"]) == 0
    with read_vectors(tmp_path / "vectors.h5") as vectors:
        assert [array.shape[1] for array in vectors] == [2, 0, 1]


def test_mistakes_are_named(model, text, tmp_path):
    output = ["-o", str(tmp_path / "vectors.h5")]
    for arguments, error, message in (
        ([str(tmp_path / "nothing.txt"), *output], TextError, "nothing.txt: there is no such file.*check the spelling"),
        ([str(text)], ConfigError, "is a file, but no -o says where.*Add -o OUT.h5"),
        (["a b", "--resume"], ConfigError, "no file was named. Add -o OUT"),
        ([str(text), *output, "--batch-rows", "3"], ConfigError, "Add --state carry"),
        ([str(text), *output, "--layers", "7"], ConfigError, "layers is 7"),
        ([str(text), *output, "--layers", "a,b"], ConfigError, "layers is 'a,b'"),
        ([str(text), *output, "--state", "warm"], ConfigError, "no warm state"),
        ([str(text), *output, "-m", str(tmp_path / "no-model")], WeightFileError, "no-model"),
        ([str(text), "-o", str(tmp_path / "vectors.txt")], ConfigError, "says no format"),
    ):
        with pytest.raises(error, match=message):
            main(arguments)
    assert not list(tmp_path.glob("vectors*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_after_its_window(model, tmp_path, monkeypatch, number, capsys):
    text, output = tmp_path / "long.txt", tmp_path / "vectors.npy"
    text.write_text("a b c\n" * 1200, encoding="utf-8")
    assert main([str(text), "-o", str(tmp_path / "whole.npy"), "--quiet"]) == 0
    real = Embedder.embed

    def signalled(*arguments):
        os.kill(os.getpid(), number)
        return real(*arguments)

    monkeypatch.setattr(Embedder, "embed", signalled)
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match=r"after line 512 of 1,200 .*--resume|after line 512 of 1,200\. .*--resume"):
        main([str(text), "-o", str(output)])
    assert "stopping after this window" in capsys.readouterr().err
    assert signal.getsignal(number) is before
    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr(Embedder, "embed", lambda *rest: [os.kill(os.getpid(), number) for _ in range(2)])
        main([str(text), "-o", str(output), "--resume", "--quiet"])
    monkeypatch.undo()
    assert main([str(text), "-o", str(output), "--resume", "--quiet", "-m", str(model)]) == 0
    assert output.read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_a_killed_run_resumed_is_the_uninterrupted_one(model, tmp_path):
    text, output = tmp_path / "long.txt", tmp_path / "vectors.h5"
    text.write_text("".join(f"line {number} of this text\n" for number in range(1_500)), encoding="utf-8")
    command = [sys.executable, "-m", "elmo", "embed", str(text), "-o", str(output), "--max-tokens", "64", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    progress = tmp_path / "vectors.h5.partial" / "progress.json"
    with subprocess.Popen(command, env=environment) as run:
        while not progress.exists() and run.poll() is None:
            time.sleep(0.01)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    done = json.loads(progress.read_text(encoding="utf-8"))["lines"]
    assert 0 < done < 1_500
    assert main([*command[4:], "--resume"]) == 0
    assert main([str(text), "-o", str(tmp_path / "whole.h5"), "--max-tokens", "64", "--quiet"]) == 0
    with read_vectors(output) as found, read_vectors(tmp_path / "whole.h5") as expected:
        assert len(found) == len(expected) == 1_500
        for one, other in zip(found, expected, strict=True):
            assert one.tobytes() == other.tobytes()
