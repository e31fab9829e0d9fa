"""Precision at k against plain loops; ties give what chance gives."""

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import TextError
from elmo.static.vectors import StaticVectors
from elmo_paper.analysis.encoders import StaticEncoder
from elmo_paper.analysis.occurrences import Occurrence, PrecisionLimits, annotated, by_form
from elmo_paper.analysis.precision import DEPTHS, _at, precision_at, precision_table
from elmo_paper.analysis.senses.raganato import AnnotatedSentence, Instance


@pytest.fixture
def corpus() -> tuple[list[AnnotatedSentence], dict[str, tuple[str, ...]]]:
    """ "play" as noun and verb, the verb in two senses, in 40 documents."""
    random = np.random.default_rng(3)
    sentences, keys = [], {}
    for number in range(80):
        pos = ("NOUN", "VERB")[number % 2]
        before = [("a", "the")[number % 2], *random.choice(["x", "y", "z"], size=random.integers(3))]
        instance = Instance(f"i{number}", "play", pos, len(before), len(before) + 1)
        sentences.append(AnnotatedSentence(f"d{number // 2}", (*before, "play", "now"), (instance,)))
        keys[instance.id] = (f"play%{pos}{number % 3 if pos == 'VERB' else 0}",)
    return sentences, keys


def table(corpus, encoders, limits=PrecisionLimits(), **options):  # noqa: B008 - it is frozen
    sentences, keys = corpus
    return precision_table(lambda: [one.tokens for one in sentences], annotated(*corpus), encoders, limits, **options)


def test_the_expected_precision_counts_ties_by_their_share():
    cosines = np.array([[0.9, 0.8, 0.5, 0.5, 0.5, -np.inf]])
    right = np.array([[True, False, True, False, False, True]])
    assert [precision_at(cosines, right, k)[0] for k in (1, 2)] == [1, 0.5]
    assert precision_at(cosines, right, 3)[0] == pytest.approx((1 + 1 / 3) / 3)
    assert precision_at(cosines, right, 5)[0] == pytest.approx(2 / 5)


def test_a_layer_that_sees_the_word_alone_is_at_chance(corpus, tiny_bilm):
    static = StaticEncoder(StaticVectors(("play",), np.ones((1, 4), dtype=np.float32)))
    chance, *rows = table(corpus, {"biLM": Embedder(tiny_bilm), "static": static}).rows
    for row in (rows[0], rows[-1]):
        for question, depths in chance.precision.items():
            assert row.over_layer_below is None
            assert [row.precision[question][k][0] for k in DEPTHS] == pytest.approx([depths[k][0] for k in DEPTHS])


def test_static_vectors_of_none_of_the_words_are_refused(corpus):
    static = StaticEncoder(StaticVectors(("elsewhere",), np.ones((1, 4), dtype=np.float32)))
    with pytest.raises(TextError, match=r"has none of the \d+ distinct words of the text"):
        table(corpus, {"static": static})


def test_precision_equals_a_plain_loop(corpus, tiny_bilm):
    embedder = Embedder(tiny_bilm)
    found = table(corpus, {"biLM": embedder}, PrecisionLimits(queries=80))
    sentences, keys = corpus
    occurrences = list(annotated(sentences, keys))
    vectors = [embedder.embed([sentences[one.sentence].tokens])[0][:, one.start] for one in occurrences]
    for question in ("part of speech", "sense"):
        for layer in (1, 2):
            shares = []
            for place, query in enumerate(occurrences):
                others = [
                    n
                    for n, one in enumerate(occurrences)
                    if one.document != query.document and (question != "sense" or one.pos == query.pos)
                ]
                agree = [
                    bool(query.senses & occurrences[n].senses)
                    if question == "sense"
                    else query.pos == occurrences[n].pos
                    for n in others
                ]
                if len(others) < 10 or all(agree) or not any(agree):
                    continue
                a = vectors[place][layer]
                cosines = [
                    vectors[n][layer] @ a / np.linalg.norm(a) / np.linalg.norm(vectors[n][layer]) for n in others
                ]
                best = np.argsort(-np.array(cosines))[:5]
                shares.append(np.mean([agree[n] for n in best]))
            # In half precision a few neighbors change places; equal sentences are equally near.
            expected = 100 * np.mean(shares)
            assert found.rows[1 + layer].precision[question][5][0] == pytest.approx(expected, abs=4)
            assert found.num_queries[question] == len(shares)
            above, below = (found.rows[n + layer].precision[question][5][0] for n in (1, 0))
            assert found.rows[1 + layer].over_layer_below[question][5][0] == pytest.approx(above - below)


def test_limits_are_kept_and_a_corpus_without_choices_is_refused(corpus):
    assert [len(form) for form in by_form(annotated(*corpus), PrecisionLimits(occurrences=30))] == [30]
    limited = table(corpus, {}, PrecisionLimits(queries=7))
    assert set(limited.num_queries.values()) == {7} and set(limited.num_words.values()) == {1}
    sentences, keys = corpus
    with pytest.raises(TextError, match="no word of several senses"):
        by_form(annotated(sentences, dict.fromkeys(keys, ("play%1",))))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            PrecisionLimits(occurrences=5),
            "at most 5 occurrences of a word form are compared. Raise occurrences above 10",
        ),
        (
            PrecisionLimits(least_candidates=79),
            "too few of the 1 word forms with several senses are in enough documents. Name",
        ),
    ],
)
def test_a_corpus_without_any_query_is_refused_with_the_reason(corpus, limits, message):
    with pytest.raises(TextError, match=f"there are no queries: one needs .* in other documents.*{message}"):
        table(corpus, {}, limits)


def test_an_expression_is_one_form_with_its_capitals():
    instance = Instance("i", "take_part", "VERB", 1, 3)
    sentence = AnnotatedSentence("d", ("They", "Take", "part"), (instance,))
    (one,) = annotated([sentence], {"i": ("x",)})
    assert one == Occurrence(0, 1, 3, "d", "Take part", "take_part", "VERB", frozenset("x"))
    assert list(_at([["a"], ["b"], ["c"]], [0, 2])) == [["a"], ["c"]]
