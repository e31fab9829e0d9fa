"""A raw text with the places and vectors of its tokens."""

import warnings

import numpy as np
import pandas
import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, TextError, TextWarning
from elmo.weights import formats
from elmo.weights.catalogue import bundled_folders

ENGLISH = 'Mr. Smith went home. "It rained," he said.\n\nThen he slept.'
KOREAN = "은행에서 돈을 찾았다. 그리고 집에 갔다.\n잤다."


@pytest.mark.parametrize("text", [ENGLISH, KOREAN])
@pytest.mark.parametrize("layers", ["all", "average", 0])
def test_every_token_has_its_place_and_the_vectors_of_its_sentence(embedder, text, layers):
    found = embedder.embed_text(text, layers)
    assert [text[start:end] for start, end in found.spans.tolist()] == found.tokens
    assert found.num_sentences == 3
    sentences = [[t for t, s in zip(found.tokens, found.sentences, strict=True) if s == number] for number in range(3)]
    expected = np.concatenate(embedder.embed(sentences, layers), axis=-2)
    assert np.array_equal(found.vectors, expected)
    assert len(found) == len(found.tokens) == found.vectors.shape[-2]


def test_it_is_a_table_and_a_sequence_of_triples(embedder):
    found = embedder.embed_text(ENGLISH)
    table = found.to_pandas()
    assert list(table.columns) == ["sentence", "token", "start", "end", "vector"]
    assert [ENGLISH[it.start : it.end] for it in table.itertuples()] == list(table.token)
    assert np.array_equal(np.stack(table.vector), found.vectors)
    for (token, (start, end), vector), row in zip(found, table.itertuples(), strict=True):
        assert (token, start, end) == (row.token, row.start, row.end)
        assert vector.shape == (embedder.layer_dim,)
    of_all = embedder.embed_text(ENGLISH, "all").to_pandas()
    assert of_all.vector[0].shape == (embedder.num_layers, embedder.layer_dim)
    assert repr(found).startswith("EmbeddedText('Mr. Smith went home.")
    assert "14 tokens in 3 sentences" in repr(found).replace(str(len(found)), "14", 1)


def test_a_token_that_is_half_of_a_surrogate_pair_is_in_the_tables(embedder):
    words = ["caf\udce9", "bar"]
    assert embedder.embed_text(" ".join(words), tokenizer="whitespace").to_pandas()["token"].tolist() == words
    assert embedder.embed([words], output="pandas")["token"].tolist() == words


def test_weights_of_layers_may_be_an_array(embedder):
    weights = [0.5, 0.25, 0.25]
    for text in ("The river bank.", ""):
        found, expected = embedder.embed_text(text, np.array(weights)), embedder.embed_text(text, weights)
        np.testing.assert_array_equal(found.vectors, expected.vectors)


def test_sentences_can_be_pooled(embedder):
    found = embedder.embed_text(ENGLISH, "all")
    sentences = [[t for t, s in zip(found.tokens, found.sentences, strict=True) if s == number] for number in range(3)]
    assert np.array_equal(found.pooled("mean"), embedder.embed(sentences, "all", pool="mean"))
    with pytest.raises(ConfigError, match="pool must .*None"):
        found.pooled(None)
    assert embedder.embed_text("").pooled().shape == (0, embedder.layer_dim)


def test_boundaries_that_are_kept_have_no_place(tiny_bilm):
    found = Embedder(tiny_bilm, keep_boundaries=True).embed_text("a b")
    assert found.tokens == ["<S>", "a", "b", "</S>"]
    assert found.spans.tolist() == [[-1, -1], [0, 1], [2, 3], [-1, -1]]
    assert len(found.vectors) == 4


def test_an_empty_text_has_no_tokens_and_leaves_a_carried_state_alone(tiny_bilm):
    carry = Embedder(tiny_bilm, state="carry")
    for text in ("", " \n\n "):
        found = carry.embed_text(text, "all")
        assert found.vectors.shape == (carry.num_layers, 0, carry.layer_dim)
        assert (len(found), found.num_sentences) == (0, 0)
        assert list(found) == []
    assert carry.state_dict() == {}


def test_tokenizers_and_sentence_ends_can_be_chosen(embedder):
    assert embedder.embed_text("a b.", tokenizer=list).tokens == ["a", " ", "b", "."]
    assert embedder.embed_text("It is\nso. Yes.", sentences="across-lines").num_sentences == 2
    assert embedder.embed_text("It is. Yes.", sentences="lines").num_sentences == 1
    normalized = embedder.embed_text("a b", normalize=True)
    np.testing.assert_allclose(np.linalg.norm(normalized.vectors, axis=-1), 1, atol=1e-6)
    with pytest.raises(ConfigError, match="no tokenizer 'moses'"):
        embedder.embed_text("a", tokenizer="moses")
    with pytest.raises(ConfigError, match=r"text\[1\] is list"):
        embedder.embed_text(["a", ["b"]])
    with pytest.raises(ConfigError, match="text must be a string"):
        embedder.embed_text(5)
    with pytest.raises(TextError, match="the tokenizer .* failed"):
        embedder.embed_text("a", tokenizer=lambda text: text)


def test_what_the_model_does_not_know_is_warned_of(tmp_path):
    embedder = Embedder.from_pretrained("small-en", device="cpu")
    with pytest.warns(TextWarning, match="looks untokenized"):
        embedder.embed_text(ENGLISH, tokenizer="whitespace")
    with pytest.warns(TextWarning, match="not in the model's language"):
        embedder.embed_text(KOREAN)
    (tmp_path / "ko.txt").write_text(KOREAN, encoding="utf-8")
    with pytest.warns(TextWarning, match="not in the model's language"):
        embed_corpus(embedder, tmp_path / "ko.txt", tmp_path / "ko.h5", tokenizer="unicode")
    assert embedder.vocabulary == formats.read(bundled_folders()["small-en"]).vocabulary
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedder.embed_text(ENGLISH)


def test_repr_says_what_an_embedder_is(embedder):
    assert repr(embedder) == (
        "Embedder(a model in memory: 3 layers of 16 dimensions, device=cpu, dtype=float32, state=zero)"
    )


@pytest.mark.parametrize("kind", [list, tuple, np.array, iter, pandas.Series, pandas.Index])
def test_several_texts_are_read_exactly_as_one_by_one(embedder, kind):
    texts = ["Don't stop", "Do n't stop @home .", ENGLISH, KOREAN, "", "It rose by 5%."]
    found = embedder.embed_text(kind(texts))
    assert [it.text for it in found] == texts
    for many, one in zip(found, map(embedder.embed_text, texts), strict=True):
        assert many.tokens == one.tokens
        assert np.array_equal(many.spans, one.spans) and np.array_equal(many.vectors, one.vectors)


def test_typographic_marks_are_read_as_plain_ones_and_keep_their_places():
    embedder = Embedder.from_pretrained("small-en", device="cpu")
    text, plain = "It didn’t rain, she said: “no” — twice…", 'It didn\'t rain, she said: "no" -- twice...'
    with pytest.warns(TextWarning, match="typographic marks"):
        found = embedder.embed_text(text)
    expected = embedder.embed_text(plain)
    assert found.tokens == expected.tokens
    assert np.array_equal(found.vectors, expected.vectors)
    assert [text[start:end] for start, end in found.spans][2:3] == ["n’t"]
    left = embedder.embed_text(text, plain_quotes=False)
    assert left.tokens == [text[start:end] for start, end in found.spans.tolist()]
    assert not np.array_equal(left.vectors, found.vectors)
    with pytest.warns(TextWarning, match="It is read in NFC"):
        composed = embedder.embed_text("cafe\u0301")
    assert (composed.tokens, composed.spans.tolist()) == (["café"], [[0, 5]])
