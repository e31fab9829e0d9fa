"""Which lines come from where."""

import lzma

import pytest

from elmo.errors import ConfigError, TextError
from elmo.lm.manifest import ELSEWHERE, part_of, read_manifest, source_of
from elmo.lm.perplexity import BySource, evaluate, scores

HEADER = "set\tsplit\tdoc\tgroup\tsource\tfirst_line\tlines\n"
ROWS = (
    "lm-en\ttest\twiki/2\tencyclopedia\tW\t4\t2\n"
    "lm-en\ttest\twiki/1\tencyclopedia\tW\t1\t2\n"
    "lm-en\ttest\tpod/1\tpodcasts\tP\t3\t1\n"
    "lm-en\ttrain\tpod/2\ttalks\tP\t1\t100\n"
    "other\ttest\tx\ttalks\tP\t1\t100\n"
)


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "manifest.tsv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    return path


def test_lines_have_the_source_of_their_document(manifest):
    documents = read_manifest(manifest, "lm-en/test")
    assert [source_of(line, documents) for line in range(7)] == [
        ELSEWHERE, "encyclopedia", "encyclopedia", "podcasts", "encyclopedia", "encyclopedia", ELSEWHERE,
    ]  # fmt: skip
    assert source_of(100, read_manifest(manifest, "other/test")) == "talks"


def test_a_mark_of_byte_order_hides_no_column(manifest):
    manifest.write_bytes(b"\xef\xbb\xbf" + manifest.read_bytes())
    assert source_of(3, read_manifest(manifest, "other/test")) == "talks"


def test_a_manifest_may_be_packed(manifest, tmp_path):
    packed = tmp_path / "manifest.tsv.xz"
    packed.write_bytes(lzma.compress(manifest.read_bytes()))
    assert source_of(3, read_manifest(packed, "lm-en/test")) == "podcasts"


@pytest.mark.parametrize(
    ("header", "row", "source"),
    [
        ("source\tfirst_line\tlines\n", "S\t1\t2\n", "S"),
        ("doc\tfirst_line\tlines\n", "nsmc/7\t1\t2\n", "nsmc"),
        ("doc\tgroup\tfirst_line\tlines\n", "nsmc/7\t\t1\t2\n", "nsmc"),
    ],
)
def test_columns_that_a_manifest_lacks_are_not_compared(tmp_path, header, row, source):
    path = tmp_path / "manifest.tsv"
    path.write_text(header + row, encoding="utf-8")
    assert source_of(2, read_manifest(path, "any/part")) == source


def test_a_document_without_lines_hides_no_other(tmp_path):
    path = tmp_path / "manifest.tsv"
    path.write_text("source\tfirst_line\tlines\nS\t1\t2\nEMPTY\t1\t0\n", encoding="utf-8")
    assert [source_of(line, read_manifest(path, "any/part")) for line in (1, 2)] == ["S", "S"]


def test_a_part_is_named_as_the_text_lies():
    assert part_of("data/lm-en/test.txt.xz") == "lm-en/test"
    assert part_of("test.txt") == "/test"


def test_a_part_that_is_not_there_is_named_with_those_that_are(manifest):
    with pytest.raises(ConfigError, match=r"no documents of 'lm-en/dev'.*lm-en/test, lm-en/train, other/test\. Name"):
        read_manifest(manifest, "lm-en/dev")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "lm-en\ttest\tdoc\n", r"manifest\.tsv:2: 3 columns, but the header has 7"),
        (HEADER + "lm-en\ttest\td\tg\ts\tone\t2\n", r"manifest\.tsv:2: first_line must be a whole number .*got 'one'"),
        (HEADER + "lm-en\ttest\td\tg\ts\t1\t-2\n", r"manifest\.tsv:2: lines must be a whole number .*got '-2'"),
        (HEADER + "lm-en\ttest\td\tg\ts\t0\t2\n", r"manifest\.tsv:2: first_line must be .*got '0'"),
        (HEADER + ROWS + "lm-en\ttest\td\tg\ts\t5\t1\n", r"manifest\.tsv: line 5 of 'lm-en/test' belongs to two"),
        ("doc\tlines\n", r"manifest\.tsv:1: no column first_line"),
        ("first_line\tlines\n", r"manifest\.tsv:1: no column group, source or doc"),
    ],
)
def test_a_file_that_is_no_manifest_is_named_with_its_line(tmp_path, content, message):
    path = tmp_path / "manifest.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TextError, match=message):
        read_manifest(path, "lm-en/test")


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "manifest.tsv"
    path.write_bytes(HEADER.encode() + b"caf\xe9\n")
    with pytest.raises(TextError, match=r"manifest\.tsv:2: not valid UTF-8"):
        read_manifest(path, "lm-en/test")
    with pytest.raises(TextError, match="there is no such file"):
        read_manifest(tmp_path / "none.tsv", "lm-en/test")


def test_sources_add_up_to_the_whole(model, manifest):
    sentences = [["the"], ["bank", "the"], ["a"], ["the", "the"], ["bank"], ["the", "a"]]
    by_source = BySource(read_manifest(manifest, "lm-en/test"))
    for line, score in enumerate(scores(model, sentences), start=1):
        by_source.add(line, score)
    found = by_source.perplexities()
    assert {name: figures.num_sentences for name, figures in found.items()} == {
        "encyclopedia": 4, ELSEWHERE: 1, "podcasts": 1,
    }  # fmt: skip
    whole = evaluate(model, sentences)
    for direction in ("forward", "backward"):
        assert sum(figures.nats[direction] for figures in found.values()) == pytest.approx(whole.nats[direction])


def test_no_document_covers_no_line():
    assert source_of(1, []) == ELSEWHERE
    assert BySource([]).perplexities() == {}
