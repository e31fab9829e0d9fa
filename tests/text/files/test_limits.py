"""Limits: bounded memory for whatever has no end, and a message that says how to lift them."""

import io
import lzma
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from elmo.corpus.blocks import read_blocks
from elmo.disk.bounded import LIMITS_VARIABLE
from elmo.errors import TextError
from elmo.text.files import lines
from elmo.text.files.text_file import check_is_text_file, is_stream
from elmo.text.sentences import read_sentences

READERS = {
    "sentences": lambda path: list(read_sentences(path)),
    "blocks": lambda path: list(read_blocks(path, "line", size=64)),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_line_that_is_too_long_is_named_and_the_limit_can_be_lifted(tmp_path, monkeypatch, read):
    monkeypatch.setattr(lines, "_LINE_BYTES", 100)
    path = tmp_path / "text.txt"
    path.write_bytes(b"a b\n" + b"c " * 500 + b"\n")
    with pytest.raises(TextError, match=rf"text.txt:2: the line has more than 100 bytes.*set {LIMITS_VARIABLE}=1;"):
        read(path)
    monkeypatch.setenv(LIMITS_VARIABLE, "1")
    assert read(path)


def test_a_line_of_exactly_the_limit_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_LINE_BYTES", 4)
    path = tmp_path / "text.txt"
    path.write_bytes(b"a bc\na bc\na bc")
    assert list(read_sentences(path)) == [["a", "bc"]] * 3


def test_a_line_without_an_end_takes_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_LINE_BYTES", 1 << 20)
    path = tmp_path / "text.txt.xz"
    path.write_bytes(lzma.compress(bytes(32 << 20), preset=0))
    tracemalloc.start()
    try:
        with pytest.raises(TextError, match="text.txt.xz:1: the line has more than 1,048,576 bytes"):
            list(read_sentences(path))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_a_device_that_never_ends_is_refused_and_the_null_device_is_an_empty_text():
    with pytest.raises(TextError, match="/dev/zero:1: the line has more than 16,777,216 bytes"):
        list(read_sentences("/dev/zero"))
    with pytest.raises(TextError, match="/dev/null is empty"):
        list(read_sentences("/dev/null", require_content=True))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_is_read_once_like_standard_input(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(b"a b\n" * 5000))
    writer.start()
    told: list[int] = []
    assert is_stream(fifo)
    assert len(list(read_sentences(fifo, on_bytes=told.append))) == 5000
    writer.join()
    assert told == []


@pytest.mark.parametrize("path", ["word " * 80, "a" * 5000])
def test_a_text_in_the_place_of_a_path_is_told(path):
    with pytest.raises(TextError, match="too long|no such file") as told:
        check_is_text_file(path)
    assert len(str(told.value)) < 500
    assert not is_stream(path)


@pytest.mark.parametrize("stream", [None, io.TextIOWrapper(io.BytesIO())])
def test_closed_standard_input_is_told(monkeypatch, stream):
    if stream is not None:
        stream.close()
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(TextError, match="standard input is closed"):
        list(read_sentences("-"))
