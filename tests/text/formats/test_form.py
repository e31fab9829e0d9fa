"""The form of a file is seen in its first lines: read right, or refused; never other words."""

import contextlib
import os
import re
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.text.formats.published_files import COLUMNS, OTHERS, RIGHT, Right, binary_documents

from elmo.corpus.prepare import prepare
from elmo.errors import ElmoError, MissingExtraError, TextError
from elmo.text.formats.form import form_of
from elmo.text.reading.placed import placed_sentences
from elmo.text.reading.settings import Reading
from elmo.text.sentences import read_sentences

ALL = COLUMNS | OTHERS


def written(folder: Path, kind: str) -> tuple[Path, Right]:
    name, content, right = ALL[kind]
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path, right


def read_or_refused(read, right: Right) -> None:
    if isinstance(right, str):
        with pytest.raises(TextError, match=right):
            read()
    else:
        assert read() == right


@pytest.mark.parametrize("kind", ALL)
def test_published_files_are_read_right_or_refused(tmp_path, kind):
    path, right = written(tmp_path, kind)
    read_or_refused(lambda: list(read_sentences(path)), right)
    reading = Reading(tokenizer="whitespace")
    read_or_refused(lambda: [it.tokens for it in placed_sentences([path], reading)], right)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "JSON as .conll"])
def test_what_comes_through_a_pipe_is_looked_at_too(tmp_path, kind):
    name, content, right = ALL[kind]
    if (
        name.endswith((".csv", ".tsv", ".conll", ".conllu", ".conll09", ".json", ".jsonl"))
        or "withheld" in kind
        or kind in ("ragged", "gzip")
    ):
        pytest.skip("its name says what it is, and a pipe has none")
    os.mkfifo(tmp_path / "pipe")
    data = content if isinstance(content, bytes) else content.encode()
    writer = threading.Thread(target=_write, args=(tmp_path / "pipe", data))
    writer.start()
    try:
        if isinstance(right, str):
            with pytest.raises(TextError, match=re.sub(r"^\S+:\d+: ", "", right)):
                list(read_sentences(tmp_path / "pipe"))
        else:
            assert list(read_sentences(tmp_path / "pipe")) == right
    finally:
        writer.join()


def _write(path: Path, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        path.write_bytes(content)


@pytest.mark.parametrize("kind", ALL)
def test_a_corpus_is_prepared_of_the_same_words_or_refused(tmp_path, kind):
    path, right = written(tmp_path, kind)

    def words() -> list[str]:
        prepare([path], tmp_path / "data")
        return sorted((tmp_path / "data" / "vocab.txt").read_text(encoding="utf-8").split("\n")[3:-1])

    read_or_refused(words, right if isinstance(right, str) else sorted({word for row in right for word in row}))


def test_documents_of_other_programs_are_named(tmp_path):
    for path in binary_documents(tmp_path):
        with pytest.raises(TextError, match=f"{path.name}:1: is not text"):
            list(read_sentences(path))
        with pytest.raises(TextError, match="is not text"):
            list(read_sentences(path, format="text", errors="skip", encoding="latin-1"))


@pytest.mark.parametrize("kind", ["a JSON array", "FASTA", "CoNLL-2003", "CoNLL-U as text"])
def test_a_format_given_by_hand_is_taken_as_it_is(tmp_path, kind):
    path, _ = written(tmp_path, kind)
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert list(read_sentences(path, format="text")) == [line.split() for line in lines]


def test_a_column_that_is_named_is_read_and_one_that_cannot_be_words_is_not(tmp_path):
    path, _ = written(tmp_path, "CoNLL-2009")
    assert list(read_sentences(path, field="2")) == RIGHT
    with pytest.raises(TextError, match="column 1 has 1, 2, 3, .*--format conll --field"):
        list(read_sentences(path, field="1"))
    path, _ = written(tmp_path, "CoNLL-U as .conll")
    assert list(read_sentences(path, field="2")) == RIGHT


def test_rows_of_multiword_tokens_are_left_out_of_a_column_beside_their_numbers(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("1-2\tim\n1\tin\n2\tdem\n2.1\tx\n3\tHaus\n", encoding="utf-8")
    assert list(read_sentences(path, field="2")) == [["in", "dem", "Haus"]]


@pytest.mark.parametrize("name", ["texts.parquet", "texts.PARQUET"])
def test_texts_and_tokens_are_read_from_parquet(tmp_path, name):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"id": [1, 2], "text": ["Anna left Rome .", "Rain fell ."], "tokens": RIGHT, "picture": [b"\xff", b"\0"]}
    columns |= {"missing": ["a", None], "nothing": [None, None]}
    parquet.write_table(pyarrow.table(columns), tmp_path / name)
    assert list(read_sentences(tmp_path / name)) == RIGHT
    assert list(read_sentences(tmp_path / name, field="tokens")) == RIGHT
    assert list(read_sentences(tmp_path / name, field="missing")) == [["a"], []]  # as an empty cell of CSV
    assert list(read_sentences(tmp_path / name, field="nothing")) == [[], []]
    with pytest.raises(TextError, match=r":1: field 'id' must be a list of tokens or a string \(got {'type': 'int64'}"):
        list(read_sentences(tmp_path / name, field="id"))
    with pytest.raises(TextError, match=r":1: there is no field 'body', its fields are: 'text', 'tokens'.*--field"):
        list(read_sentences(tmp_path / name, field="body"))
    assert list(read_sentences(tmp_path / name, format="text")) == RIGHT
    prepare([tmp_path / name], tmp_path / "data")
    assert "Rome" in (tmp_path / "data" / "vocab.txt").read_text()
    (tmp_path / name).rename(tmp_path / "texts")
    with pytest.raises(TextError, match=r"is not text: .*its ending .*\.parquet"):
        list(read_sentences(tmp_path / "texts"))
    (tmp_path / name).write_bytes(b"PAR1 and no more")
    with pytest.raises(TextError, match="can't be read beyond line 0: it isn't a Parquet file"):
        list(read_sentences(tmp_path / name))


def test_parquet_is_read_by_batches_whatever_the_size_of_its_row_groups(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"tokens": [["Rain", str(row)] for row in range(3000)]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2500)
    sizes: list[int] = []
    real = parquet.ParquetFile.iter_batches

    def batches(self, **settings):
        for batch in real(self, **settings):
            sizes.append(len(batch))
            yield batch

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", batches)
    rows = read_sentences(tmp_path / "t.parquet", field="tokens")
    assert [next(rows) for _ in range(3)] == [["Rain", "0"], ["Rain", "1"], ["Rain", "2"]]
    assert sum(sizes) <= 1024
    assert sum(1 for _ in rows) == 2997


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    with pytest.raises(MissingExtraError, match=r"reading texts from Parquet needs pyarrow.*'pyelmo\[data\]'"):
        list(read_sentences(tmp_path / "t.parquet", field="tokens"))


def test_a_stream_that_is_not_text_must_be_named_where_its_form_cannot_be_chosen(tmp_path, monkeypatch):
    import io
    from types import SimpleNamespace

    from elmo.corpus.settings import CorpusSettings

    def given(kind: str) -> None:
        content = ALL[kind][1]
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))

    given("CoNLL-U")
    with pytest.raises(TextError, match="stdin: looks like conllu, .*Name the right one with --format"):
        prepare(["-"], tmp_path / "data")
    given("CoNLL-U")
    prepare(["-"], tmp_path / "data", CorpusSettings(format="conllu"))
    given("CoNLL-U")
    prepare(["-"], tmp_path / "as-text", CorpusSettings(format="text"))
    assert "# text" not in (tmp_path / "data" / "vocab.txt").read_text()


def test_the_form_of_what_is_not_there_is_that_of_its_name(tmp_path):
    assert form_of(tmp_path / "none.csv").format == "csv"
    assert form_of("-").format == "text"


word = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=5,
) | st.sampled_from(["a\u00a0b", "x\u2028y", "#", "O", "B-PER", "-DOCSTART", "1", "_", "{", "<a>", ">p", "[[", '"'])
tokens = st.lists(st.lists(word, min_size=1, max_size=5), min_size=1, max_size=4)


def as_conll(sentences, separator, end, *, before: str = "", after: str = ""):
    rows = [end.join(separator.join(filter(None, (before, it, after))) for it in words) for words in sentences]
    return (end + end).join(rows) + end


FORMS = {
    "one column": lambda found, separator, end: as_conll(found, separator, end),
    "two columns": lambda found, separator, end: as_conll(found, separator, end, after="NN"),
    "tag first": lambda found, separator, end: as_conll(found, separator, end, before="NN"),
    "three columns": lambda found, separator, end: as_conll(found, separator, end, after=f"NN{separator}O"),
    "CoNLL-U": lambda found, _, end: (end + end).join(
        end.join(f"{i}\t{it}" + "\t_" * 8 for i, it in enumerate(words, start=1)) for words in found
    ) + end,
    "CoNLL-2012": lambda found, separator, end: "#begin document (d)" + end
    + as_conll(found, separator, end, before=separator.join("d01"), after=f"X{separator}-") + "#end document" + end,
}  # fmt: skip


@settings(deadline=None)
@given(
    tokens,
    st.sampled_from(sorted(FORMS)),
    st.sampled_from(["\t", " ", "  ", " \t"]),
    st.sampled_from(["\n", "\r\n", "\r", "\r\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp949"]),
    st.sampled_from(["a.conll", "a.conllu", "a.txt", "a.bio", "a"]),
)
def test_any_tokens_in_any_form_of_columns_are_read_back_or_refused(
    tmp_path_factory, found, form, separator, end, encoding, name
):
    path = tmp_path_factory.getbasetemp() / "property" / name
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_bytes(FORMS[form](found, separator, end).encode(encoding))
    except UnicodeEncodeError:  # CP949 has not all characters
        reject()
    field = {"tag first": "2", "CoNLL-2012": "4"}.get(form, "text")
    for given_format in ("auto", "conllu" if form == "CoNLL-U" else "conll"):
        for given_encoding in {"utf-8", encoding} - {"utf-16", "utf-8-sig"}:
            try:
                read = list(read_sentences(path, format=given_format, field=field, encoding=given_encoding))
            except ElmoError:
                continue
            if given_format == "auto" and name in ("a.txt", "a"):
                # What nobody could tell from lines of text may be read as such.
                written_in = "utf-16" if encoding == "utf-16" else given_encoding
                text = path.read_bytes().decode(written_in).removeprefix("\ufeff")
                as_text = [line.split() for line in text.split("\n")]
                if read == as_text[: len(read)]:
                    continue
            if name == "a.conllu" and form == "one column" and not read:
                assert all(token.startswith("#") for sentence in found for token in sentence)  # comments in CoNLL-U
                continue
            assert read == found
