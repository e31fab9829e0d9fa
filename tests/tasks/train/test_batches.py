"""Texts that a model can't compare with themselves are refused before anything is computed."""

import pytest

from elmo.errors import TextError
from elmo.tasks.registry import find
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.squad.data import Question
from elmo.tasks.squad.tokens import TokenizedText
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.train.batches import BatchLimits, sorted_batches

LONG = ["word"] * 20_000


def passage(tokens: list[str]) -> TokenizedText:
    return TokenizedText(
        " ".join(tokens), tuple(tokens), tuple((5 * place, 5 * place + 4) for place in range(len(tokens)))
    )


@pytest.mark.parametrize(
    ("task", "example", "place"),
    [
        ("sst", LabelledSentence(LONG, "1", source="a.tsv", line=7), "a.tsv:7: "),
        ("snli", SentencePair(["a"], LONG, "x", "p1", "a.jsonl", 3), "a.jsonl:3: "),
        ("squad", Question("q1", passage(["who"]), passage(LONG), source="dev.json"), "dev.json, q1: "),
    ],
)
def test_a_text_of_too_many_tokens_is_refused_with_its_place(task, example, place):
    with pytest.raises(
        TextError, match=f"^{place}the text that begins 'word word .* has 20,000 tokens, .* at most 8,192"
    ):
        find(task).require_moderate([example])


def test_tasks_that_compare_nothing_take_any_text():
    for name in ("ner", "srl", "coref"):
        assert find(name).most_tokens is None


def test_a_batch_compares_no_more_than_one_text():
    sizes = [8000, 8000, 4000, 4000, 4000, 4000, 400, 400]
    batches = [batch.tolist() for batch in sorted_batches(sizes, BatchLimits(32, pairs=8192**2))]
    assert batches == [[0], [1], [2, 3, 4, 5], [6, 7]]
    assert len(list(sorted_batches([400] * 64, BatchLimits(32, pairs=8192**2)))) == 2
