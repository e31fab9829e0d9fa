"""Text files -> tokenized sentences."""

import bz2
import gzip
import io
import lzma
import re
import sys
import tracemalloc
import unicodedata
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo.errors import ConfigError, MissingExtraError, TextError
from elmo.text.files.decoding import decoded, decoded_block
from elmo.text.files.text_file import format_of_name
from elmo.text.sentences import read_sentences

TEXT = "The cat sat .\n\n밥 을 먹었다 .\nlast line"
SENTENCES = [["The", "cat", "sat", "."], [], ["밥", "을", "먹었다", "."], ["last", "line"]]
PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


def written(folder: Path, content: bytes, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_carriage_returns_before_line_feeds_disappear_and_a_last_line_feed_adds_no_sentence(tmp_path):
    path = written(tmp_path, b"a b\r\n\r\nc\r\n")
    assert list(read_sentences(path, tokenize=lambda text: [text])) == [["a b"], [""], ["c"]]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_a_line_feed_ends_a_sentence(tmp_path, separator):
    path = written(tmp_path, f"a{separator}b\nc\n".encode())
    assert list(read_sentences(path)) == [["a", "b"], ["c"]]


def test_texts_are_tokenized_in_nfc(tmp_path):
    apart = unicodedata.normalize("NFD", "밥을 먹었다, café")
    path = written(tmp_path, apart.encode())
    seen: list[str] = []
    assert list(read_sentences(path, tokenize=lambda text: seen.append(text) or text.split())) == [
        ["밥을", "먹었다,", "café"]
    ]
    assert seen == ["밥을 먹었다, café"]


@pytest.mark.parametrize("encoding", ["u8", "utf", "UTF8", "utf_8_sig"])
def test_by_any_name_of_utf8_the_mark_of_byte_order_is_no_part_of_the_text(tmp_path, encoding):
    path = written(tmp_path, "\ufeff밥 을\n".encode())
    assert list(read_sentences(path, encoding=encoding)) == [["밥", "을"]]


def test_a_bad_byte_is_named_with_line_and_column(tmp_path):
    path = written(tmp_path, b"good\nonly thirteen\xe9 x\n")
    with pytest.raises(TextError) as caught:
        list(read_sentences(path))
    assert str(caught.value) == (
        f"{path}:2: not valid UTF-8 (byte 0xE9 at column 14). "
        "Use --encoding with what the file is in (cp949 for Korean, cp1252, cp1251, shift_jis, gb18030, latin-1, ...), "
        "or --errors skip to list and skip such lines."
    )


def test_skipped_lines_keep_their_place_and_are_listed(tmp_path):
    path = written(tmp_path, b"a\n\xff b\nc\n\xe9\n")
    listed = []
    sentences = read_sentences(
        path, errors="skip", on_bad_line=lambda number, message: listed.append((number, message))
    )
    assert list(sentences) == [["a"], [], ["c"], []]
    assert [number for number, _ in listed] == [2, 4]
    assert f"{path}:4: not valid UTF-8 (byte 0xE9 at column 1)" in listed[1][1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "no-such", "a\0b"])
def test_an_encoding_that_cannot_serve_is_refused_with_the_next_step(tmp_path, encoding):
    with pytest.raises(ConfigError, match=f"encoding is {re.escape(repr(encoding))}.*Use, for instance, utf-8"):
        read_sentences(written(tmp_path, b"a\n"), encoding=encoding)


def test_a_missing_file_is_an_error_before_anything_is_read(tmp_path):
    with pytest.raises(TextError, match="nowhere.txt: there is no such file. Paths count from"):
        read_sentences(tmp_path / "nowhere.txt")


def test_an_empty_file_has_no_sentences_and_is_an_error_on_request(tmp_path):
    path = written(tmp_path, b"")
    assert list(read_sentences(path)) == []
    with pytest.raises(TextError, match="text.txt is empty: it has no line to read"):
        list(read_sentences(path, require_content=True))


def test_long_files_are_read_in_constant_memory(tmp_path):
    path = tmp_path / "zeros.gz"
    line = b"word " * 20 + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(line * 1000)
    tracemalloc.start()
    try:
        assert sum(len(sentence) for sentence in islice(read_sentences(path), 20_000)) == 400_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000  # the part of the text that was read has 2 million bytes, all of it 20 million


def test_progress_adds_up_to_the_size_of_the_file(tmp_path):
    path = written(tmp_path, gzip.compress(b"".join(b"%d\n" % number for number in range(10_000))), "text.gz")
    told = []
    assert len(list(read_sentences(path, on_bytes=told.append))) == 10_000
    assert len(told) > 1
    assert sum(told) == path.stat().st_size


@pytest.mark.parametrize(("ending", "pack"), PACKERS.items())
def test_packed_files_are_read_to_their_end_or_tell_their_damage(tmp_path, ending, pack):
    one, other = pack(b"first\n" * 9), pack(b"second\n" * 20_000)
    path = written(tmp_path, one + other + bytes(8), f"text.txt{ending}")  # end to end, as pbzip2 and cat make them
    assert len(list(read_sentences(path))) == 20_009
    for behind in (bytes([other[0] ^ 1]) + other[1:], b"hello"):
        path.write_bytes(one + behind)
        with pytest.raises(TextError, match=rf"text.txt{ending}: can't be read beyond line 9: .*download it again"):
            list(read_sentences(path))
    path.write_bytes(one + other[:-9])
    with pytest.raises(TextError, match=r"can't be read beyond line \d+: it is cut off"):
        list(read_sentences(path))
    path.write_bytes(b"" if ending != ".gz" else one[:5])
    with pytest.raises(TextError, match=r"can't be read beyond line 0: it is cut off"):
        list(read_sentences(path))
    path.write_bytes(b"this was never packed\n")
    with pytest.raises(TextError, match=r"can't be read beyond line 0: .+\. Copy or download it again."):
        list(read_sentences(path))


@pytest.fixture
def zstd(tmp_path):
    """Packs as the zstd program does; without anything that can, its tests are skipped."""
    pyarrow = pytest.importorskip("pyarrow")

    def pack(content: bytes, name: str = "text.txt.zst") -> Path:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return written(tmp_path, sink.getvalue().to_pybytes(), name)

    return pack


def test_zstandard_files_read_like_plain_ones_and_tell_their_damage(zstd):
    path = zstd(TEXT.encode())
    assert list(read_sentences(path)) == SENTENCES
    path.write_bytes(path.read_bytes() * 2)  # frames end to end, as pzstd and cat make them
    assert len(list(read_sentences(path))) == 2 * len(SENTENCES) - 1
    path = zstd(b"".join(b"%d line\n" % (number * 7919) for number in range(20_000)))
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(TextError, match=r"can't be read beyond line \d+: it is cut off. Copy or download it again."):
        list(read_sentences(path))
    path.write_bytes(b"this was never packed\n")
    with pytest.raises(TextError, match="can't be read beyond line 0: .*descriptor"):
        list(read_sentences(path))


def test_without_a_library_for_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[data\]'"):
        list(read_sentences(written(tmp_path, b"", "text.zst")))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", None),
        ("a", None),
        ("a.csv.xz", "csv"),
        ("a.TSV", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.NDJSON.gz", "jsonl"),
        ("a.parquet", "jsonl"),
        ("a.conllu.zst", "conllu"),
        ("a.conllup", "conllu"),
        *((name, "conll") for name in ("a.conll", "eng.testa", "b.TESTB", "a.bio", "a.iob2", "a.conllx", "a.conll09")),
        *((name, "conll") for name in ("wikigold.conll.txt", "a.v4_gold_conll", "a.gold_conll.gz", "a.conll2003")),
        ("jsonl", None),
        ("-", None),
    ],
)
def test_endings_that_people_use_tell_the_format(name, expected):
    assert format_of_name(name) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_that_were_joined_have_no_marks_inside(tmp_path, end):
    path = written(tmp_path, f"\ufeffa b{end}\ufeffc \ufeffd{end}".encode())
    assert list(read_sentences(path, tokenize=str.split)) == [["a", "b"], ["c", "\ufeffd"]]


@given(
    st.binary(max_size=60) | st.binary(max_size=60).map(lambda content: b"." + content),  # no kind of file begins so
    st.sampled_from(["utf-8", "latin-1", "euc-kr"]),
    st.sampled_from([1, 5]),
)
@example(b".\xe2\x80\n.\n", "utf-8", 1)  # a character cut off at a line's end
@example(b"\xef\xbb\xbf", "latin-1", 1)
@example(b"\xef\xbb\xbf\n.\n\xef\xbb\xbf\xef\xbb\xbf", "utf-8", 1)
@example(b".\n\xef\xbb\xbf", "utf-8", 5)
def test_a_block_is_decoded_like_its_lines(content, encoding, first):
    def read(how, text):
        told = []
        try:
            return list(how(text, "x", encoding, lambda *bad: told.append(bad), first)), told
        except TextError as error:  # it isn't text
            return str(error), told

    assert read(decoded_block, content) == read(decoded, io.BytesIO(content))
