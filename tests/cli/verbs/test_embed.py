"""`elmo embed` as it is typed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo.cli.verbs.embed import main
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.errors import ConfigError, Interrupted, OutputError, TextError

SOURCE = Path(__file__).resolve().parents[3] / "src"


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sat\n\nthe dog\n", encoding="utf-8")
    return path


def test_a_file_becomes_a_file_of_vectors(model, text, tmp_path, tiny_bilm, capsys, terminal, on_terminal):
    assert on_terminal(main, [str(text), "-o", str(tmp_path / "vectors.h5")]) == 0
    told = capsys.readouterr()
    assert "vectors.h5: 3 rows (1 blank, 0 bad), 5 tokens, layers all, float32" in told.out
    assert [line.partition("|")[0] for line in terminal.screen if line] == ["reading: 100%", "embedding: 100%"]
    with h5py.File(tmp_path / "vectors.h5") as file:
        np.testing.assert_array_equal(file["0"], Embedder(tiny_bilm).embed(["the cat sat", "", "the dog"])[0])


def test_every_flag_reaches_the_library(tmp_path, text, tiny_bilm, capsys):
    tiny_bilm.save_pretrained(tmp_path / "named")
    output = tmp_path / "vectors.bin"
    text.write_bytes(b"don't\ncaf\xe9\n")
    arguments = [str(text), "--output", str(output), "--model", str(tmp_path / "named"), "--layers", "0.5,0,0.5"]
    arguments += ["--to", "npy", "--dtype", "float32", "--store", "float16", "--state", "carry", "--batch-rows", "1"]
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
    before = output.stat().st_mtime_ns
    assert main(arguments) == 0  # resumed, but nothing was left to do
    assert output.stat().st_mtime_ns == before
    arguments.remove("--resume")
    with pytest.raises(OutputError, match="exists already"):
        main(arguments)
    assert main([*arguments, "--force"]) == 0


def test_skipped_lines_of_a_file_and_of_standard_input_have_no_vectors(model, text, tmp_path, stdin, capsys):
    text.write_bytes(b"ok\ncaf\xe9\nok\n")
    assert main([str(text), "-o", str(tmp_path / "vectors.npy"), "--quiet", "--errors", "skip"]) == 1
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
    assert rows[0].split() == ["token", "from-to", "layer", "0", "layer", "1", "layer", "2", "begins,", "layer", "2"]
    assert [row.split()[0] for row in rows[1:4]] == ["Some", "text", "."]
    assert rows[-2:] == [
        "layers, tokens, dimensions: 3 x 3 x 16, float32",
        "layer 0 ...: L2 norm of the vector; from-to: characters of the text",
    ]
    array = Embedder.from_pretrained(device="cpu").embed(["Some text ."])[0]
    assert [row.split()[1] for row in rows[1:4]] == ["0-4", "5-9", "10-11"]
    assert rows[1].split()[2:5] == [f"{np.linalg.norm(array[layer, 0]):.3f}" for layer in range(3)]
    assert told.err == ""


def test_one_layers_table_has_boundaries_if_they_are_kept(model, capsys):
    assert main(["word", "--layers", "-1", "--keep-boundaries"]) == 0
    told = capsys.readouterr()
    assert [row.split()[0] for row in told.out.splitlines()[:4]] == ["token", "<S>", "word", "</S>"]
    assert "tokens, dimensions: 3 x 16" in told.out
    assert "there is no file word, so it is treated as text" in told.err


def test_a_text_becomes_json_with_the_boundaries_of_its_model(model, tiny_bilm, capsys, monkeypatch):
    # ELMoForManyLangs models begin and end sentences with tokens of their own.
    monkeypatch.setattr(Embedder, "boundary_tokens", ("<bos>", "<eos>"))
    assert main(["a b", "--json", "--layers", "average", "--keep-boundaries"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["tokens"] == ["<bos>", "a", "b", "<eos>"]
    assert result["spans"] == [[-1, -1], [0, 1], [2, 3], [-1, -1]]
    assert result["shape"] == [4, 16]
    expected = Embedder(tiny_bilm, keep_boundaries=True).embed(["a b"], "average")[0]
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_is_embedded_like_standard_input(model, text, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(text.read_bytes(),))
    writer.start()
    assert main([str(tmp_path / "pipe"), "-o", str(tmp_path / "vectors.h5"), "--quiet"]) == 0
    writer.join()
    with read_vectors(tmp_path / "vectors.h5") as vectors:
        assert [array.shape[1] for array in vectors] == [3, 0, 2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_after_its_window(model, tmp_path, monkeypatch, number, capsys):
    text, output = tmp_path / "long.txt", tmp_path / "vectors.npy"
    text.write_text("a b c\n" * 1200, encoding="utf-8")
    assert main([str(text), "-o", str(tmp_path / "whole.npy"), "--quiet"]) == 0
    real = Embedder.embed

    def signalled(*arguments, **settings):
        os.kill(os.getpid(), number)
        return real(*arguments, **settings)

    monkeypatch.setattr(Embedder, "embed", signalled)
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match=r"after row 512 of 1,200 .*--resume|after row 512 of 1,200\. .*--resume"):
        main([str(text), "-o", str(output)])
    assert capsys.readouterr().err == ""
    assert signal.getsignal(number) is before
    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr(Embedder, "embed", lambda *_, **__: [os.kill(os.getpid(), number) for _ in range(2)])
        main([str(text), "-o", str(output), "--resume", "--quiet"])
    monkeypatch.undo()
    assert main([str(text), "-o", str(output), "--resume", "--quiet", "-m", str(model)]) == 0
    assert output.read_bytes() == (tmp_path / "whole.npy").read_bytes()


@pytest.mark.slow
def test_a_killed_run_resumed_is_the_uninterrupted_one(model, tmp_path, capsys):
    text, output = tmp_path / "long.txt", tmp_path / "vectors.h5"
    text.write_text("".join(f"line {number} of this text\n" for number in range(1_500)), encoding="utf-8")
    command = [sys.executable, "-m", "elmo", "embed", str(text), "-o", str(output), "--max-tokens", "64", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
    folder = tmp_path / "vectors.h5.partial"
    with subprocess.Popen(command, env=environment) as run:
        while len(list(folder.glob("part-*"))) < 2 and run.poll() is None:
            time.sleep(0.01)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    assert main([*command[4:], "--resume", "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["resumed_at_line"] < 1_500
    assert main([str(text), "-o", str(tmp_path / "whole.h5"), "--max-tokens", "64", "--quiet"]) == 0
    with read_vectors(output) as found, read_vectors(tmp_path / "whole.h5") as expected:
        assert len(found) == len(expected) == 1_500
        for one, other in zip(found, expected, strict=True):
            assert one.tobytes() == other.tobytes()


def test_a_long_text_is_a_text_and_no_path(model, tmp_path, capsys):
    long = "word " * 2000
    assert main([long, "--json", "--layers", "top"]) == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [2000, 16]
    assert main(["x" * 5000, "--quiet"]) == 0
    output = ["-o", str(tmp_path / "vectors.h5")]
    with pytest.raises(TextError, match="File name too long"):
        main([long, *output])


@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_the_text_is_never_its_own_output(model, text, tmp_path, kind):
    before, other = text.read_bytes(), tmp_path / "other.npy"
    other.symlink_to(text) if kind == "symlink" else other.hardlink_to(text)
    if kind == "symlink":
        with pytest.raises(ConfigError, match="is the input itself"):
            main([str(text), "-o", str(other), "--force"])
    else:
        assert main([str(text), "-o", str(other), "--force", "--quiet"]) == 0
    assert text.read_bytes() == before


def test_side_files_are_not_replaced_unasked_and_not_through_links(model, text, tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    output = tmp_path / "vectors.npy"
    side = tmp_path / "vectors.npy.metadata.json"
    side.symlink_to(precious)
    with pytest.raises(OutputError, match=r"metadata\.json: exists already"):
        main([str(text), "-o", str(output)])
    assert main([str(text), "-o", str(output), "--force", "--quiet"]) == 0
    assert precious.read_text() == "precious"
    assert not side.is_symlink()
    with read_vectors(output) as vectors:
        assert vectors.metadata["layers"] == "all"


def test_a_file_that_appears_meanwhile_is_not_replaced(model, text, tmp_path, monkeypatch):
    output = tmp_path / "vectors.npy"
    real = Embedder.embed

    def embed(*arguments, **settings):
        (tmp_path / "vectors.npy.offsets.npy").write_text("mine")
        return real(*arguments, **settings)

    monkeypatch.setattr(Embedder, "embed", embed)
    with pytest.raises(OutputError, match=r"offsets\.npy: has appeared.*--resume"):
        main([str(text), "-o", str(output), "--quiet"])
    assert (tmp_path / "vectors.npy.offsets.npy").read_text() == "mine"
    (tmp_path / "vectors.npy.offsets.npy").unlink()
    assert main([str(text), "-o", str(output), "--quiet", "--resume"]) == 0


def test_two_runs_do_not_share_a_folder(model, text, tmp_path, monkeypatch):
    from elmo.disk import folder_lock

    monkeypatch.setattr(folder_lock, "SECONDS", 0.1)
    output = tmp_path / "vectors.h5"
    real, refused = Embedder.embed, []

    def embed(*arguments, **settings):
        monkeypatch.setattr(Embedder, "embed", real)
        for flag in ("--resume", "--force"):
            with pytest.raises(OutputError, match="another 'elmo embed' is at work there") as told:
                main([str(text), "-o", str(output), "--quiet", flag])
            refused.append(told)
        return real(*arguments, **settings)

    monkeypatch.setattr(Embedder, "embed", embed)
    assert main([str(text), "-o", str(output), "--quiet"]) == 0
    assert len(refused) == 2
    assert not (tmp_path / "vectors.h5.partial").exists()


def test_proteins_on_standard_input_are_printed_with_their_ids(model, stdin, capsys):
    stdin(b">P1 x\nMKTAYIAKQR\n>P2\nGG\n")
    assert main(["-", "--layers", "top", "--quiet"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["tokens"], row["line"]) for row in rows] == [
        ("P1", list("MKTAYIAKQR"), 1),
        ("P2", list("GG"), 3),
    ]


def test_pooled_compressed_vectors_by_two_workers_are_those_of_the_library(model, text, tmp_path, capsys):
    output = tmp_path / "v.h5"
    options = ["--layers", "top", "--pool", "mean", "--compress", "--workers", "2"]
    assert main([str(text), "-o", str(output), *options, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["metadata"]
    assert (facts["pool"], facts["compression"]) == ("mean", "gzip")
    with read_vectors(output) as vectors:
        sentences = [vectors.row(row).tokens for row in range(len(vectors))]
        expected = Embedder.from_pretrained(model).embed(sentences, "top", pool="mean")
        assert all((one == other).all() for one, other in zip(vectors, expected, strict=True))
