"""JSON arrays are read as their elements, however they are laid out, or refused with the line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.errors import TextError
from elmo.text.formats.json_array import array_as_lines
from elmo.text.reading.placed import placed_sentences
from elmo.text.reading.settings import Reading
from elmo.text.sentences import read_sentences

text = st.text(st.characters(codec="utf-8"), max_size=8)
rows = st.dictionaries(text, text | st.integers() | st.lists(text, max_size=3), max_size=4)


def elements(content: str) -> list[object]:
    lines = content.encode().splitlines(keepends=True)
    return [json.loads(line) for line in array_as_lines(lines, "a.json", "utf-8", "text")]


@settings(deadline=None)
@given(st.lists(rows, max_size=6), st.sampled_from([None, 0, 1, 4]), st.sampled_from([" ", "\n", "\n\n \n"]))
def test_any_objects_come_back_in_any_layout(found, indent, border):
    assert elements(border + json.dumps(found, indent=indent).replace("}, {", f"}}{border},{border}{{") + border) == [
        *json.loads(json.dumps(found).replace("}, {", f"}}{border},{border}{{"))
    ]


def test_texts_and_lists_of_tokens_become_objects():
    assert elements('["a b", "c"]') == [{"text": "a b"}, {"text": "c"}]
    assert elements('[["a", "b"], []]') == [{"text": ["a", "b"]}, {"text": []}]
    assert elements('["a"]') == [{"text": "a"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[\n{"a": 1}\n{"b": 2}]', r"a.json:3: not a valid JSON array \('{' stands where ',' or ']' must\)"),
        ('[\n{"a": 1},\n\n]', r"a.json:4: .*Expecting value"),
        ('[{"a": 1}]\n\n[]', r"a.json:3: .*'\[' stands where the end of the file must"),
        ('[\n{"a": 1},\n{"b"', r"a.json:3: .*Expecting ':' delimiter"),
        ('[\n{"a": 1}\n', r"a.json:2: .*it is cut off"),
        ("[" * 1_000_000, r"a.json:1: .*nested too deeply"),
        ('["Rome"', r"a.json:1: .*it is cut off"),
    ],
)
def test_what_is_not_an_array_is_refused_with_its_line(content, message):
    with pytest.raises(TextError, match=message):
        elements(content)


def test_an_element_on_many_lines_is_read_once_it_is_whole():
    long = [{"ids": list(range(5000)), "text": "a"}, {"text": "b"}]
    assert elements(json.dumps(long, indent=1)) == long


def test_rows_are_numbered_by_their_elements_and_bad_ones_skipped(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "a b"}, {"body": "c"}, {"text": ["d"]}], indent=2), encoding="utf-8")
    with pytest.raises(TextError, match="a.json:2: there is no field 'text'"):
        list(read_sentences(path))
    told: list[tuple[int, str]] = []
    reading = Reading(tokenizer="whitespace", errors="skip")
    found = placed_sentences([path], reading, on_bad_line=lambda *it: told.append(it))
    assert [(it.line, it.tokens) for it in found] == [(1, ["a", "b"]), (2, []), (3, ["d"])]
    assert [number for number, _ in told] == [2]


def test_a_corpus_of_an_array_has_a_document_in_each_element(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": f"w{i} is here ."} for i in range(9000)], indent=1), encoding="utf-8")
    prepare([path], tmp_path / "data", CorpusSettings(valid_share=0.5))
    report = TrainingData.open(tmp_path / "data").report
    counts = [report["splits"][name]["sentences"] for name in ("train", "valid")]
    assert sum(counts) == 9000
    assert all(count > 4000 for count in counts)
