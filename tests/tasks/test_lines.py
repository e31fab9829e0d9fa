"""`--errors skip` leaves out the one example that is wrong, in every task, and says how many those are.

Errors of standard input call it "stdin".
"""

import io
import json
import sys
import unicodedata
from dataclasses import fields, replace

import pytest

from elmo.errors import TextError, TextWarning
from elmo.tasks.registry import find


def squad(*questions, context="Anna lives in Oslo"):
    return {"paragraphs": [{"context": context, "qas": list(questions)}]}


def question(name, start=0, text="Anna"):
    return {"id": name, "question": "Who?", "answers": [{"text": text, "answer_start": start}]}


def coref(name, cell="(1)", end="#end document\n"):
    return f"#begin document ({name}); part 000\n{name} 0 0 Anna - {cell}\n{name} 0 1 she - (1)\n\n{end}"


def tree(word, tag):
    return f"1\t{word}\t_\t{tag}" + "\t_" * 6 + "\n\n"


BAD = {
    "ner, a tag": ("ner", "a O\n\nb X-PER\nc O\n\nd B-PER\n", ":3: the tag is 'X-PER'"),
    "ner, columns": ("ner", "a O\n\nb O x\nc O\n\nd B-PER\n", ":4: has 2 columns"),
    "ner, a sequence": ("ner", "a B-A\nb I-A\n\nc O\nd I-A\n\ne O\n", ":5: 'I-A' comes after 'O'"),
    "pos, a treebank": ("pos", tree("a", "X") + tree("b", "_") + tree("c", "Y"), ":3: .*has no UPOS"),
    "pos, a sentence": ("pos", "c\tX\n\na b\tX Y\n\nd\tY\n", ":3: has a whole sentence for a token"),
    "pos, a tag": ("pos", "a\tX\n\nb\t\nc\tX\n\nd\tY\n", ":3: has an empty token or tag"),
    "pos, columns": ("pos", "a X\n\nb X x\nc Y\n\nd Y\n", ":4: has 2 columns"),
    "sst, a blank review": ("sst", "1\tgood\n0\t\n0\tbad\n", ":2: has an empty text"),
    "sst, a tree": ("sst", "(3 (2 a) (4 b))\n(3 (2 a) (4 b)\n(1 (2 a) (4 c))\n", ":2: column"),
    "snli, columns": ("snli", "e\tA\tB\nn\tA\nn\tC\tD\n", ":2: has 2 tab-separated columns"),
    "snli, JSON": ("snli", '{"gold_label": "e", "sentence1": "A", "sentence2": "B"}\n{\n' * 2, ":2: is not valid JSON"),
    "srl, brackets": ("srl", "a - (A0*)\nb b (V*)\n\na - (A0*\nb b (V*)\n\na - (A0*)\nb b (V*)\n", ":4: "),
    "srl, columns": ("srl", "a - (A0*)\nb b (V*)\n\na - (A0*)\nb b\n\na - (A0*)\nb b (V*)\n", ":5: has 2 columns"),
    "coref, brackets": ("coref", coref("a") + coref("b", "(1") + coref("c"), ":7: opens a mention"),
    "coref, no end": ("coref", coref("a") + coref("b", end="") + coref("c"), ":6: the document 'b' has no"),
    "coref, the last has no end": ("coref", coref("a") + coref("c") + coref("b", end=""), ":11: the document"),
    "coref, no name": ("coref", coref("a") + coref("") + coref("c"), ":6: begins a document without a name"),
    "coref, twice": (
        "coref",
        coref("a") + coref("a") + coref("c"),
        r":6: \('a', '000'\) is the name of another example too",
    ),
    "coref, JSON lines": (
        "coref",
        '{"doc_key": "a", "sentences": [["x"]]}\n{"doc_key": 1}\n{"doc_key": "c", "sentences": [["x"]]}\n',
        ":2: doc_key must be a string",
    ),
    "squad, an answer": (
        "squad",
        json.dumps({"data": [squad(question("a"), question("b", 5), question("c"))]}),
        "question 'b'",
    ),
    "squad, a passage": (
        "squad",
        json.dumps({"data": [squad(question("a")), squad(question("b"), context=" "), squad(question("c"))]}),
        "context is empty",
    ),
    "squad, an id": (
        "squad",
        json.dumps({"data": [squad(question("a"), question("a"), question("c"))]}),
        "'a' is the name of another example too",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_the_example_that_is_wrong_is_left_out_and_counted(tmp_path, monkeypatch, case):
    name, text, message = BAD[case]
    task = find(name)
    settings = task.settings()
    path = tmp_path / "data"
    path.write_text(text)
    with pytest.raises(TextError, match=message):
        task.read(path, settings)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    with pytest.raises(TextError, match=f"^stdin.*{message}"):
        task.read("-", settings)
    (group,) = [field.name for field in fields(settings) if hasattr(getattr(settings, field.name), "errors")]
    skip = replace(settings, **{group: replace(getattr(settings, group), errors="skip")})
    left_out = 2 if case == "snli, JSON" else 1
    with pytest.warns(TextWarning, match=rf"left out what can't be read, {left_out} in all .*{message}"):
        examples = task.read(path, skip)
    assert len(examples) == 2


LETTERS = {
    "ner": "학교 B-LOC\ncafé O\n",
    "pos": "학교\tNOUN\ncafé\tX\n",
    "pos, treebank": "1\t학교\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\tcafé\t_\tX\t_\t_\t1\tdep\t_\t_\n",
    "sst": "1\t학교 앞의 café !\n",
    "sst, trees": "(3 (2 학교) (4 café))\n",
    "snli": "e\t학교, café\t집\n",
    "snli, JSON": '{"gold_label": "e", "sentence1": "학교, café", "sentence2": "집"}\n',
    "snli, parses": '{"gold_label": "e", "sentence1_binary_parse": "( 학교 café )", "sentence2": "집"}\n',
    "srl": "학교 - (A0*)\ncafé café (V*)\n",
    "coref": coref("a").replace("Anna", "학교").replace("she", "café"),
    "coref, JSON": '{"doc_key": "a", "sentences": [["학교", "café"]], "clusters": [[[0, 0], [1, 1]]]}\n',
    "squad": json.dumps(
        {"data": [{"title": "a", **squad(question("1"), context="Anna: 학교, café")}]}, ensure_ascii=False
    ),
}


@pytest.mark.parametrize("kind", LETTERS)
def test_letters_that_are_taken_apart_are_read_as_one(tmp_path, kind):
    """As in unlabelled text: models know "é" and "한" as one character."""
    path, task = tmp_path / "text", find(kind.split(",")[0])

    def read(text: str) -> list[list[str]]:
        path.write_text(text, encoding="utf-8")
        return list(task.sentences_of(task.read(path, task.settings())))

    found = read(unicodedata.normalize("NFD", LETTERS[kind]))
    assert found == read(LETTERS[kind])
    assert {"학교", "café"} <= {token for sentence in found for token in sentence}
