"""The streamed measures of a text against plain loops over its occurrences."""

from itertools import permutations

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.embed.encoder import token_layers
from elmo.errors import TextError
from elmo.static.vectors import StaticVectors
from elmo_paper.analysis.encoders import ContextAverage, StaticEncoder
from elmo_paper.analysis.geometry import SampleSettings, drawn, geometry
from elmo_paper.analysis.measures import cka, explained_variance

WORDS = ("the", "bank", "of", "river", "money", "밥", "was", "steep")


@pytest.fixture
def sentences() -> list[tuple[str, ...]]:
    random = np.random.default_rng(5)
    made = [tuple(WORDS[place] for place in random.integers(8, size=random.integers(1, 9))) for _ in range(40)]
    return [*made, (), made[0]]


@pytest.fixture
def encoders(tiny_bilm):
    vectors = np.random.default_rng(6).normal(size=(7, 5)).astype(np.float32)
    return {"biLM": Embedder(tiny_bilm), "static": StaticEncoder(StaticVectors(WORDS[:7], vectors))}


def test_a_sample_has_different_sentences_and_words_that_stand_in_enough(sentences):
    sample = drawn(sentences, SampleSettings(least_sentences=5, tokens=12, words=3))
    assert sample.sentences == list(dict.fromkeys(filter(None, sentences)))
    assert set(sample.words) == {word for word in WORDS if sum(word in one for one in sample.sentences) >= 5}
    assert len(sample.kept) == 12 and len(sample.explained) == 3 <= len(sample.words)
    assert all(0 <= token < len(one) for token, one in zip(sample.token_of, sample.sentences, strict=True))
    assert drawn(sentences, SampleSettings(seed=1)).token_of.tolist() != sample.token_of.tolist()


def test_layers_are_measured_as_defined(sentences, encoders, recorded_progress):
    settings = SampleSettings(words=4, occurrences=6, tokens=20)
    found, sample = geometry(sentences, encoders, settings, progress=recorded_progress), drawn(sentences, settings)
    recorded_progress.require({"biLM: embedding": "sentences", "static: embedding": "sentences"})
    assert [(one.encoder, one.layer) for one in found.layers] == [
        *(("biLM", f"layer {n}") for n in range(3)),
        ("static", ""),
    ]
    embedded = list(token_layers(encoders["biLM"], sample.sentences))
    for layer, one in enumerate(found.layers[:3]):
        occurrences = {
            word: [v[layer, s.index(word)] for v, s in zip(embedded, sample.sentences, strict=True) if word in s]
            for word in sample.words
        }
        cosines = [
            np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in permutations(vectors, 2)])
            for vectors in occurrences.values()
        ]
        assert one.self_similarity[0] == pytest.approx(np.mean(cosines), abs=1e-5)
        shares = [explained_variance(np.stack(occurrences[word][:6])) for word in sample.explained]
        assert one.explained[0] == pytest.approx(np.mean(shares), abs=1e-5)
        kept = [v[layer, p] for n, (v, p) in enumerate(zip(embedded, sample.token_of, strict=True)) if n in sample.kept]
        pairs = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in permutations(kept, 2)]
        assert one.anisotropy[0] == pytest.approx(np.mean(pairs), abs=1e-5)
        assert one.norm == pytest.approx(np.mean(np.linalg.norm(kept, axis=1)), rel=1e-5)
    assert found.layers[0].self_similarity[0] == pytest.approx(1, abs=1e-5)  # layer 0 sees the word alone
    assert found.layers[3].self_similarity[0] == pytest.approx(1, abs=1e-5)  # the word without a vector left out


def test_alignment_is_between_all_layers_of_all_encoders(sentences, encoders):
    found = geometry(sentences, encoders, SampleSettings(tokens=25))
    assert found.cka.shape == (4, 4) and np.allclose(np.diag(found.cka), 1) and np.allclose(found.cka, found.cka.T)
    sample = drawn(sentences, SampleSettings(tokens=25))
    kept = [number for number in range(len(sample.sentences)) if number in sample.kept]
    vectors = [
        [list(token_layers(encoder, [sample.sentences[n]]))[0][layer, sample.token_of[n]] for n in kept]
        for encoder, layer in ((encoders["biLM"], 2), (encoders["static"], 0))
    ]
    of_bilm, static = map(np.stack, vectors)
    has_vector = static.any(axis=1)
    assert 2 < has_vector.sum() < len(kept)
    assert found.cka[2, 3] == pytest.approx(cka(of_bilm[has_vector], static[has_vector]), abs=1e-5)


def test_a_text_without_pairs_is_refused(encoders):
    with pytest.raises(TextError, match="fewer than two different sentences"):
        geometry([("a",), (), ("a",)], encoders)


def test_where_nothing_can_be_measured_there_is_no_figure(sentences):
    static = StaticVectors(("alone",), np.ones((1, 3), dtype=np.float32))
    (row,) = geometry([*sentences, ("alone",)], {"context": ContextAverage(static)}).record()["layers"]
    assert {value for name, value in row.items() if name not in ("encoder", "layer")} == {None}


def test_static_vectors_of_none_of_the_words_are_refused_by_their_files_name(sentences, tiny_bilm):
    static = StaticVectors(("elsewhere",), np.ones((1, 3), dtype=np.float32))
    message = "other.vec: has none of the 8 distinct words of the text"
    for encoder in (StaticEncoder(static, source="other.vec"), ContextAverage(static, source="other.vec")):
        with pytest.raises(TextError, match=message):
            geometry(sentences, {"biLM": Embedder(tiny_bilm), "static": encoder})


def test_sentences_of_unknown_words_do_not_count_as_unlike():
    static = StaticVectors(("a", "b"), np.array([[1, 0], [0.8, 0.6]], dtype=np.float32))
    text = [("a", "b"), ("b", "a"), ("unknown", "too"), ("a", "unknown")]
    (row,) = geometry(text, {"static": StaticEncoder(static)}).layers
    assert row.intra_sentence[0] == pytest.approx(np.sqrt(0.9))


def test_of_one_word_or_sentence_no_more_is_known_than_what_a_cosine_can_be():
    static = StaticVectors(("a", "b"), np.array([[1, 0], [0.8, 0.6]], dtype=np.float32))
    text = [("a", "x"), ("a", "y"), ("a", "z"), ("a", "b")]
    (row,) = geometry(text, {"static": StaticEncoder(static)}, SampleSettings(least_sentences=2)).layers
    assert (row.self_similarity[1], row.intra_sentence[1], row.explained[1]) == ((-1, 1), (-1, 1), (0, 1))


def test_a_word_with_one_vector_says_nothing_of_how_much_one_vector_explains(sentences, encoders):
    """It would count as a word whose occurrences are all the same."""
    text = [*sentences, ("alone", "bank")]
    every, often = (geometry(text, encoders, SampleSettings(least_sentences=least)) for least in (1, 2))
    assert (every.num_words, often.num_words) == (9, 8)
    for one, other in zip(every.layers, often.layers, strict=True):
        assert one.explained[0] == pytest.approx(other.explained[0])
