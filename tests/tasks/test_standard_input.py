"""Labelled examples from standard input: errors call it "stdin", in every task."""

import io
import sys

import pytest

from elmo.errors import TextError
from elmo.tasks.registry import find

WRONG = {
    "ner": ("the O\n\nbank\n", "stdin:3"),
    "pos": ("the DET\n\nbank\n", "stdin:3"),
    "sst": ("4\tgood film\nfive\n", "stdin:2"),
    "snli": ('{"gold_label": "neutral"}\n', "stdin:1"),
    "srl": ("the O\nbank\n", "stdin:2"),
    "squad": ("[\n1,\n", "stdin"),
    "coref": ("#begin document (a); part 000\nx\n", "stdin:2"),
}
EMPTY = {"ner": "\n\n", "pos": "\n\n", "sst": "\n", "snli": "\n", "srl": "\n", "coref": "\n"}


def said_of(task: str, text: str, monkeypatch) -> str:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    found = find(task)
    with pytest.raises(TextError) as error:
        found.read("-", found.settings())
    return str(error.value)


@pytest.mark.parametrize("task", WRONG)
def test_a_wrong_line_is_named(task, monkeypatch):
    text, place = WRONG[task]
    assert said_of(task, text, monkeypatch).startswith(f"{place}:")


@pytest.mark.parametrize("task", EMPTY)
def test_nothing_is_told(task, monkeypatch):
    assert said_of(task, EMPTY[task], monkeypatch).startswith("stdin")
