"""Which lines come from where, and the perplexity of each source."""

import json
import lzma

import pytest

from elmo.errors import ConfigError, TextError

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
    path = tmp_path / "manifest.tsv.xz"
    path.write_bytes(lzma.compress((HEADER + ROWS).encode()))
    return path


def test_lines_have_the_source_of_their_document(script, manifest):
    documents = script.read_manifest(manifest, "lm-en/test")
    assert [script.source_of(line, documents) for line in range(7)] == [
        script.ELSEWHERE, "encyclopedia", "encyclopedia", "podcasts", "encyclopedia", "encyclopedia", script.ELSEWHERE,
    ]  # fmt: skip
    assert script.source_of(100, script.read_manifest(manifest, "other/test")) == "talks"
    assert script.source_of(1, []) == script.ELSEWHERE


@pytest.mark.parametrize(
    ("header", "row", "source"),
    [
        ("source\tfirst_line\tlines\n", "S\t1\t2\n", "S"),
        ("doc\tfirst_line\tlines\n", "nsmc/7\t1\t2\n", "nsmc"),
        ("doc\tgroup\tfirst_line\tlines\n", "nsmc/7\t\t1\t2\n", "nsmc"),
        ("source\tfirst_line\tlines\n", "S\t1\t2\nEMPTY\t1\t0\n", "S"),
    ],
)
def test_columns_that_a_manifest_lacks_are_not_compared(script, tmp_path, header, row, source):
    path = tmp_path / "manifest.tsv"
    path.write_text(header + row, encoding="utf-8")
    assert script.source_of(2, script.read_manifest(path, "any/part")) == source


def test_a_part_is_named_as_the_text_lies(script, manifest):
    assert script.part_of("data/lm-en/test.txt.xz") == "lm-en/test"
    with pytest.raises(ConfigError, match=r"no documents of 'lm-en/dev'.*lm-en/test, lm-en/train, other/test\. Name"):
        script.read_manifest(manifest, "lm-en/dev")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "lm-en\ttest\tdoc\n", r"manifest\.tsv:2: 3 columns, but the header has 7"),
        (HEADER + "lm-en\ttest\td\tg\ts\tone\t2\n", r"manifest\.tsv:2: first_line must be a whole number .*got 'one'"),
        (HEADER + ROWS + "lm-en\ttest\td\tg\ts\t5\t1\n", r"manifest\.tsv: line 5 of 'lm-en/test' belongs to two"),
        ("doc\tlines\n", r"manifest\.tsv:1: no column first_line"),
        ("first_line\tlines\n", r"manifest\.tsv:1: no column group, source or doc"),
    ],
)
def test_a_file_that_is_no_manifest_is_named_with_its_line(script, tmp_path, content, message):
    path = tmp_path / "manifest.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TextError, match=message):
        script.read_manifest(path, "lm-en/test")


def test_sources_add_up_to_the_whole(script, manifest, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("the\nbank the\na\n\nbank\nthe a\n", encoding="utf-8")
    arguments = ["small-en", str(tmp_path / "text.txt"), str(manifest), "--part", "lm-en/test"]
    assert script.main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    sentences = {name: figures["sentences"] for name, figures in found["sources"].items()}
    assert sentences == {"encyclopedia": 3, "podcasts": 1, script.ELSEWHERE: 1}
    nats = sum(figures["nats_per_token"] * figures["predictions"] for figures in found["sources"].values())
    assert nats / found["predictions"] == pytest.approx(found["nats_per_token"])
    assert script.main([*arguments[:-1], "lm-en/dev"]) == 2
    assert "no documents of 'lm-en/dev'" in capsys.readouterr().err
