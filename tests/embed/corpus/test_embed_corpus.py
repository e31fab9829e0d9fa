"""embed_corpus: resumable to the byte, refuses before it works, loses nothing."""

import contextlib
import errno
import gzip
import importlib
import io
import lzma
import os
import shutil
import signal
import sys
import threading
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.corpus.vectors_folder import Parts
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.writers import FileContent
from elmo.errors import ConfigError, Interrupted, OutputError, TextError
from elmo.process.progress.report import Progress
from elmo.process.stop_flag import stop_flag

SUFFIXES = (".hdf5", ".npy", ".parquet")
Usage = namedtuple("Usage", "total used free")
"""Of a disk."""


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("state", ["zero", "carry"])
def test_an_interrupted_run_resumed_is_the_uninterrupted_one_to_the_byte(
    tiny_checkpoint, text, tmp_path, suffix, state, recorded_progress, require_equal, interrupt
):
    whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
    embed_corpus(Embedder(tiny_checkpoint, state=state), text, whole, window=4)
    for windows in (2, 0, 3):
        interrupt(windows, Embedder(tiny_checkpoint, state=state), text, parts, window=4, resume=True)
        assert not parts.exists()
    report = embed_corpus(
        Embedder(tiny_checkpoint, state=state), text, parts, window=4, resume=True, progress=recorded_progress
    )
    assert report["resumed_at_line"] == 20
    recorded_progress.require_stages(reading="bytes", checking="rows", embedding="tokens")
    assert recorded_progress.stages["checking"][-1] == (20, 20)
    assert recorded_progress.stages["embedding"][0][0] > 0
    require_equal(parts, whole)
    assert not (tmp_path / f"parts{suffix}.partial").exists()


class Killed(BaseException):
    """Stands for kill -9 between two operations on files."""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_run_killed_anywhere_in_its_end_phase_is_finished_by_the_next(embedder, text, tmp_path, suffix, monkeypatch):
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, text, whole)
    write = FileContent.write
    limit = steps = 0
    while steps >= limit:
        limit, steps = limit + 1, 0

        def count(real, limit=limit):
            def counting(*arguments, **settings):
                nonlocal steps
                if steps >= limit - 1:
                    steps += 1
                    raise Killed
                steps += 1
                return real(*arguments, **settings)

            return counting

        def write_and_die(self, *arguments, **settings):
            for name in ("replace", "unlink", "rmdir"):
                patch.setattr(Path, name, count(getattr(Path, name)))
            write(self, *arguments, **settings)

        with monkeypatch.context() as patch:
            patch.setattr(FileContent, "write", write_and_die)
            with contextlib.suppress(Killed):
                embed_corpus(embedder, text, output)
        report = embed_corpus(embedder, text, output, resume=True)
        assert report["lines"] == 27
        for name in names(tmp_path):
            if name.startswith("vectors"):
                twin = name.replace("vectors", "whole", 1)
                assert (tmp_path / name).read_bytes() == (tmp_path / twin).read_bytes()
                (tmp_path / name).unlink()
    assert limit > 3


def test_an_old_output_is_not_taken_for_the_new_one(embedder, text, tmp_path, monkeypatch):
    output = tmp_path / "vectors.parquet"
    embed_corpus(embedder, text, output, layers="top")
    old = output.read_bytes()

    def die(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("elmo.embed.corpus.run.put_in_place", die)
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(embedder, text, output, layers="all", force=True)
    monkeypatch.undo()
    assert output.read_bytes() == old
    embed_corpus(embedder, text, output, layers="all", force=True, resume=True)
    with read_vectors(output) as vectors:
        assert vectors[0].shape == (3, 7, 16)


def test_carry_reads_the_file_in_batches_of_rows(tiny_checkpoint, text, lines, tmp_path):
    carry = Embedder(tiny_checkpoint, state="carry")
    carry.embed(["something read before must not count"])
    embed_corpus(carry, text, tmp_path / "vectors.npy", window=5)
    fresh = Embedder(tiny_checkpoint, state="carry")
    expected = [array for start in range(0, len(lines), 5) for array in fresh.embed(lines[start : start + 5])]
    with read_vectors(tmp_path / "vectors.npy") as vectors:
        for found, array in zip(vectors, expected, strict=True):
            np.testing.assert_array_equal(found, array)
    assert Embedder(tiny_checkpoint, state="carry").window_limits() == (64, None)


def test_resuming_something_else_is_refused(tiny_checkpoint, embedder, text, tmp_path, interrupt):
    output = tmp_path / "vectors.npy"
    interrupt(2, embedder, text, output, window=4)
    for settings, name in (
        ({"layers": "top"}, "layers"),
        ({"store": "float16"}, "store"),
        ({"tokenizer": "unicode"}, "tokenizer"),
        ({"window": 5}, "window_lines"),
    ):
        with pytest.raises(ConfigError, match=rf"was begun with {name} .*now it is"):
            embed_corpus(embedder, text, output, **({"window": 4, "resume": True} | settings))
    with pytest.raises(ConfigError, match="was begun with state 'zero', now it is 'carry'"):
        embed_corpus(Embedder(tiny_checkpoint, state="carry"), text, output, window=4, resume=True)
    name = "token_encoder.projection.bias"
    other = replace(tiny_checkpoint, tensors=tiny_checkpoint.tensors | {name: tiny_checkpoint.tensors[name] + 1})
    with pytest.raises(ConfigError, match="was begun with model_hash"):
        embed_corpus(Embedder(other), text, output, window=4, resume=True)
    text.write_text(text.read_text(encoding="utf-8").replace("many", "more"), encoding="utf-8")
    with pytest.raises(ConfigError, match="was begun with text_sha256"):
        embed_corpus(embedder, text, output, window=4, resume=True)


def test_a_run_is_not_resumed_with_a_changed_tokenizer(embedder, text, tmp_path, monkeypatch, interrupt):
    module = tmp_path / "changed_splits.py"
    module.write_text("def tokens(text):\n    return text.split()\n")
    monkeypatch.syspath_prepend(tmp_path)
    given = {"window": 4, "tokenizer": "changed_splits:tokens", "format": "text"}
    interrupt(2, embedder, text, tmp_path / "v.npy", **given)
    module.write_text("def tokens(text):\n    return text.upper().split()\n")
    importlib.reload(sys.modules["changed_splits"])
    with pytest.raises(ConfigError, match="was begun with tokenizer_code"):
        embed_corpus(embedder, text, tmp_path / "v.npy", **given, resume=True)


def test_what_is_in_the_way_is_never_replaced_unasked(embedder, text, tmp_path, interrupt):
    output = tmp_path / "vectors.npy"
    interrupt(1, embedder, text, output, window=4)
    with pytest.raises(OutputError, match=r"vectors.npy.partial: an earlier run did not finish.*--resume.*--force"):
        embed_corpus(embedder, text, output)
    report = embed_corpus(embedder, text, output, force=True)
    assert report["resumed_at_line"] == 0
    before = output.read_bytes()
    for settings in ({}, {"resume": True, "layers": "top"}):
        with pytest.raises(OutputError, match="vectors.npy: exists already.*--force"):
            embed_corpus(embedder, text, output, **settings)
    assert embed_corpus(embedder, text, output, resume=True)["resumed_at_line"] == 27
    assert output.read_bytes() == before
    embed_corpus(embedder, text, output, layers="top", force=True)
    assert output.read_bytes() != before
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(OutputError, match="folder.npy: is a folder"):
        embed_corpus(embedder, text, tmp_path / "folder.npy", force=True)


@pytest.mark.parametrize("to", [None, "npy"])
@pytest.mark.parametrize("output", [".", "/"])
def test_an_output_without_a_name_is_refused(embedder, text, output, to):
    with pytest.raises(ConfigError, match=f"{output}: its ending '' is not the ending of a vector format"):
        embed_corpus(embedder, text, output, to=to)


def test_a_folder_that_is_not_ours_is_not_removed(embedder, text, tmp_path):
    (tmp_path / "vectors.npy.partial").mkdir()
    (tmp_path / "vectors.npy.partial" / "thesis.doc").touch()
    with pytest.raises(OutputError, match="thesis.doc.*which no run made"):
        embed_corpus(embedder, text, tmp_path / "vectors.npy", force=True)
    assert names(tmp_path / "vectors.npy.partial") == ["thesis.doc"]


def test_bad_lines_stop_the_run_before_it_begins_or_keep_their_place(embedder, text, lines, tmp_path):
    text.write_bytes(b"caf\xe9 bar\n" + text.read_bytes())
    with pytest.raises(TextError, match=r"corpus.txt:1: not valid UTF-8 \(byte 0xE9 at column 4\).*--errors skip"):
        embed_corpus(embedder, text, tmp_path / "vectors.npy")
    assert names(tmp_path) == ["corpus.txt"]
    report = embed_corpus(embedder, text, tmp_path / "vectors.npy", errors="skip")
    assert [message.split(": not")[0] for message in report["bad_lines"]] == [f"{text}:1"]
    assert (report["lines"], report["blank_lines"]) == (len(lines) + 1, 2)
    with read_vectors(tmp_path / "vectors.npy") as vectors:
        assert vectors[0].shape == (3, 0, 16)
        np.testing.assert_allclose(vectors[3], embedder.embed(lines)[2], rtol=0, atol=2e-5)
    latin = embed_corpus(embedder, text, tmp_path / "latin.npy", encoding="latin-1")
    assert latin["bad_lines"] == []


def test_the_report_says_what_was_done(embedder, text, lines, tmp_path, recorded_progress):
    output = tmp_path / "new" / "vectors.h5"
    report = embed_corpus(embedder, text, output, window=9, progress=recorded_progress)
    tokens = sum(len(line.split()) for line in lines)
    assert (report["lines"], report["tokens"], report["blank_lines"]) == (len(lines), tokens, 2)
    assert report["bytes"] == output.stat().st_size
    recorded_progress.require_stages(reading="bytes", embedding="tokens")
    assert recorded_progress.stages["embedding"][0] == (0, tokens)
    assert recorded_progress.stages["embedding"][-1] == (tokens, tokens)


def test_packed_text_other_tokenizers_and_formats_by_name(embedder, text, tmp_path):
    packed = tmp_path / "corpus.txt.xz"
    packed.write_bytes(lzma.compress(text.read_bytes()))
    embed_corpus(embedder, packed, tmp_path / "vectors.bin", to="npy", tokenizer=list, layers=[0, 0, 1])
    numbers = np.load(tmp_path / "vectors.bin")
    assert len(numbers) == sum(len(line) for line in text.read_text(encoding="utf-8").splitlines())
    with pytest.raises(ConfigError, match="is not the ending of a vector format"):
        embed_corpus(embedder, text, tmp_path / "other.bin")
    with pytest.raises(ConfigError, match="format must be one of .* .got 'xml'"):
        embed_corpus(embedder, text, tmp_path / "other.bin", to="xml")


def test_standard_input_is_kept_until_the_end(embedder, text, tmp_path, monkeypatch, recorded_progress, interrupt):
    embed_corpus(embedder, text, tmp_path / "whole.npy", window=4)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.read_bytes())))
    interrupt(2, embedder, "-", tmp_path / "vectors.npy", window=4)
    embed_corpus(embedder, "-", tmp_path / "vectors.npy", window=4, resume=True)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.read_bytes())))
    embed_corpus(embedder, "-", tmp_path / "at-once.npy", progress=recorded_progress)
    recorded_progress.require_stages(receiving="bytes", reading="bytes", embedding="tokens")
    assert (tmp_path / "vectors.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff\n")))
    with pytest.raises(TextError, match="^stdin:1: not valid UTF-8"):
        embed_corpus(embedder, "-", tmp_path / "other.npy")
    assert not (tmp_path / "other.npy.partial").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_not_wait_for_a_pipe(embedder, tmp_path, number, open_pipe):
    with stop_flag(), pytest.raises(KeyboardInterrupt):
        embed_corpus(embedder, open_pipe(number), tmp_path / "vectors.npy")
    assert names(tmp_path) == ["pipe"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_packed_pipe_that_ends_early_is_a_damaged_text(embedder, text, tmp_path):
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(text.read_bytes())[:100],))
    writer.start()
    with pytest.raises(TextError, match=r"pipe.gz: can't be read beyond line \d+: it is cut off"):
        embed_corpus(embedder, pipe, tmp_path / "vectors.npy")
    writer.join()


class Changing(Progress):
    """Writes another text when embedding has begun, or when tokens of it are `done`."""

    def __init__(self, text, after, done=0):
        self.text, self.after, self.done = text, after, done

    def show(self, what, done, total, unit, note=""):
        if what == "embedding" and done >= self.done:
            self.text.write_text(self.after)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_text_that_changes_under_the_run_is_stored_as_it_was_read(embedder, text, tmp_path, suffix):
    before, whole = text.read_text(encoding="utf-8"), tmp_path / f"whole{suffix}"
    embed_corpus(embedder, text, whole, window=4)
    for after in (before + "one more\n", "a b\n", before.replace("a", "b")):
        text.write_text(before)
        changing = Changing(text, after, done=1)
        embed_corpus(embedder, text, tmp_path / f"new{suffix}", window=4, progress=changing, force=True)
        assert (tmp_path / f"new{suffix}").read_bytes() == whole.read_bytes()


def test_impossible_arguments_are_refused_before_anything_is_made(embedder, text, tmp_path):
    output = tmp_path / "vectors.npy"
    for settings, error, message in (
        ({"store": "int8"}, ConfigError, "store must be one of .* .got 'int8'"),
        ({"window": 0}, ConfigError, "window must be at least 1 .*got 0"),
        ({"layers": 9}, ConfigError, "layers is 9"),
        ({"encoding": "klingon"}, ConfigError, "klingon"),
        ({"errors": "ignore"}, ConfigError, "errors must be one of 'strict', 'skip' .got 'ignore'"),
        ({"tokenizer": "magic"}, ConfigError, "no tokenizer 'magic'"),
    ):
        with pytest.raises(error, match=message):
            embed_corpus(embedder, text, output, **settings)
    with pytest.raises(TextError, match="no such file"):
        embed_corpus(embedder, tmp_path / "nothing.txt", output)
    text.write_text("")
    with pytest.raises(TextError, match="is empty"):
        embed_corpus(embedder, text, output)
    assert names(tmp_path) == ["corpus.txt"]


def test_a_stop_while_the_text_is_counted_leaves_nothing(embedder, text, tmp_path):
    with pytest.raises(Interrupted, match="while it was counted"):
        embed_corpus(embedder, text, tmp_path / "vectors.npy", stop_asked=lambda: True)
    assert names(tmp_path) == ["corpus.txt"]


def test_too_little_disk_is_said_before(embedder, text, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10, 9, 1000))
    tokens = sum(len(line.split()) for line in text.read_text(encoding="utf-8").splitlines())
    text_bytes = 48 * tokens + 424 * 27
    needed = f"{(tokens * 192 + text_bytes) / 1e6:.1f} MB"
    with pytest.raises(
        OutputError, match=rf"npy.partial: not enough .*{needed} needed for {tokens} tokens .*3 layers, float32"
    ):
        embed_corpus(embedder, text, tmp_path / "vectors.npy")
    with pytest.raises(OutputError, match=r"\(1 layer, float16\), 0.0 MB free"):
        embed_corpus(embedder, text, tmp_path / "vectors.npy", layers="top", store="float16")
    assert names(tmp_path) == ["corpus.txt"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(("room", "pool"), [(3, None), (8, None), (3, "mean")])
def test_a_disk_that_fills_up_keeps_what_is_finished(embedder, text, lines, tmp_path, suffix, room, pool, monkeypatch):
    """There is room for some parts, or for all but not for the file."""
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, text, whole, window=4, pool=pool)
    real, content, begun = Parts.write, FileContent.write, []

    def full(self, window, arrays, state):
        begun.append(real(self, window, arrays, state))
        if len(begun) > room:
            os.truncate(self.folder / f"part-{window.start:012d}", 100)
            raise OSError(errno.ENOSPC, "No space left on device")

    def full_at_last(self, file_format, path):
        content(self, file_format, path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Parts, "write", full)
    monkeypatch.setattr(FileContent, "write", full_at_last)
    vectors = sum(1 if pool else len(line.split()) for line in lines[{3: 12, 8: 0}[room] :])
    needed = f"{vectors * 3 * 16 * 4:,} more bytes"
    with pytest.raises(OutputError, match=rf"partial: the disk is full: {needed}.*[\d,]+ are free.*--resume"):
        embed_corpus(embedder, text, output, window=4, pool=pool)
    monkeypatch.undo()
    report = embed_corpus(embedder, text, output, window=4, pool=pool, resume=True)
    assert report["resumed_at_line"] == {3: 12, 8: 27}[room]
    assert output.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_room_for_all_vectors_twice_each_part_makes_room(embedder, text, tmp_path, suffix, monkeypatch):
    """Killed while it joins, such a run embeds again what it had removed."""
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, text, whole, window=4)
    folder, left = tmp_path / f"vectors{suffix}.partial", []
    room = 3 * 16 * 4 * sum(len(line.split()) for line in text.read_text(encoding="utf-8").splitlines()) + 30_000

    def free(path):
        taken = sum(file.stat().st_size for file in folder.glob("part-*"))
        return Usage(room, taken, room - taken)

    def counted(self, window):
        left.append(len(list(folder.glob("part-*"))))
        if len(left) == 3:
            raise Killed
        return arrays(self, window)

    arrays = Parts.arrays
    monkeypatch.setattr(shutil, "disk_usage", free)
    monkeypatch.setattr(Parts, "arrays", counted)
    with pytest.raises(Killed):
        embed_corpus(embedder, text, output, window=4)
    assert left == [7, 6, 5]
    assert embed_corpus(embedder, text, output, window=4, resume=True)["resumed_at_line"] == 27 - 8
    assert output.read_bytes() == whole.read_bytes()
