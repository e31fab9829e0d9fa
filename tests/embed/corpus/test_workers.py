"""Several processes embed one text: the file is that of one process, byte by byte, and runs end and resume as one's."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elmo
from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.corpus.part_makers import PartMaker
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError
from elmo.process.worker_pool import WorkerDied
from elmo.weights.native.write import write

SUFFIXES = (".h5", ".npy", ".parquet")


@pytest.fixture
def loaded(tiny_checkpoint, tmp_path) -> Embedder:
    """From files, which other processes can read too."""
    write(tiny_checkpoint, tmp_path / "model")
    return Embedder.from_pretrained(tmp_path / "model", device="cpu")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_file_of_several_workers_is_that_of_one(loaded, text, tmp_path, suffix, recorded_progress, require_equal):
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    settings = {"window": 4, "pool": "max", "store": "float16"} if suffix == ".npy" else {"window": 4}
    embed_corpus(loaded, text, one, **settings)
    report = embed_corpus(loaded, text, two, workers=2, progress=recorded_progress, **settings)
    require_equal(one, two)
    assert report["lines"] == 27
    recorded_progress.require_stages(reading="bytes", embedding="tokens")
    assert not list(tmp_path.glob("*.partial"))


def test_an_interrupted_run_is_resumed_by_any_number_of_workers(loaded, text, tmp_path, require_equal, interrupt):
    embed_corpus(loaded, text, tmp_path / "one.npy", window=4)
    interrupt(3, loaded, text, tmp_path / "two.npy", window=4, workers=2)
    assert len(list((tmp_path / "two.npy.partial").glob("part-*"))) == 3  # what was under way is finished
    assert embed_corpus(loaded, text, tmp_path / "two.npy", window=4, resume=True)["resumed_at_line"] == 12
    require_equal(tmp_path / "one.npy", tmp_path / "two.npy")


def test_what_other_processes_cannot_do_is_refused_before_anything_is_made(tiny_checkpoint, loaded, text, tmp_path):
    output = tmp_path / "v.npy"
    for embedder in (Embedder(tiny_checkpoint), Embedder.from_pretrained(tmp_path / "model", state="carry")):
        with pytest.raises(ConfigError, match=r"several workers can't do the work of Embedder\(.*or one worker"):
            embed_corpus(embedder, text, output, workers=2)
    in_torch = Embedder.from_pretrained(tmp_path / "model", device="cpu")
    pytest.importorskip("torch")
    assert in_torch.bilm is not None  # whose products are torch's from now on
    with pytest.raises(ConfigError, match="without torch"):
        embed_corpus(in_torch, text, output, workers=2)
    with pytest.raises(ConfigError, match=r"workers must be a whole number from 1 to [\d,]+ \(got 0\)"):
        embed_corpus(loaded, text, output, workers=0)
    with pytest.raises(ConfigError, match=r"workers must be a whole number from 1 to [\d,]+ \(got 9999\)"):
        embed_corpus(loaded, text, output, workers=9999)
    assert not list(tmp_path.glob("v.npy*"))


def test_a_model_that_was_changed_meanwhile_is_noticed(loaded, tiny_checkpoint, text, tmp_path):
    tiny_checkpoint.tensors["token_encoder.character_embedding"][1] = 7
    write(tiny_checkpoint, tmp_path / "model", force=True)
    with pytest.raises(ConfigError, match="holds another model"):
        embed_corpus(loaded, text, tmp_path / "v.npy", window=4, workers=2)


def test_a_worker_that_dies_costs_only_what_it_was_doing(loaded, text, tmp_path, monkeypatch, require_equal):
    embed_corpus(loaded, text, tmp_path / "one.npy", window=4)
    real, made = PartMaker.make, []

    def make(self, parts, window, rows):
        made.append(window)
        if len(made) == 5:
            self._pool._workers[0].process.kill()
        real(self, parts, window, rows)

    monkeypatch.setattr(PartMaker, "make", make)
    with pytest.raises(WorkerDied, match=r"ended with code -9.* Use fewer --workers and --resume"):
        embed_corpus(loaded, text, tmp_path / "two.npy", window=4, workers=2)
    monkeypatch.undo()
    embed_corpus(loaded, text, tmp_path / "two.npy", window=4, workers=2, resume=True)
    require_equal(tmp_path / "one.npy", tmp_path / "two.npy")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_ended_leaves_no_process_and_is_resumed_to_the_same_bytes(
    tiny_checkpoint, tmp_path, number, require_equal
):
    write(tiny_checkpoint, tmp_path / "model")
    text = tmp_path / "long.txt"
    text.write_text("".join(f"line {number} of this text\n" for number in range(6_000)), encoding="utf-8")
    output, whole = tmp_path / "v.h5", tmp_path / "whole.h5"
    command = [sys.executable, "-m", "elmo", "embed", str(text), "-m", str(tmp_path / "model"), "--max-tokens", "64"]
    source = str(Path(elmo.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, "-o", str(whole), "--quiet"], env=environment, check=True)
    folder = tmp_path / "v.h5.partial"
    with subprocess.Popen([*command, "-o", str(output), "--workers", "2", "--quiet"], env=environment) as run:
        while len(list(folder.glob("part-*"))) < 3 and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(number)
    assert run.returncode == (-number if number == signal.SIGKILL else 75)
    resumed = subprocess.run([*command, "-o", str(output), "--workers", "2", "--resume"], env=environment)
    assert resumed.returncode == 0
    require_equal(output, whole)
