"""The component "elmo" in spaCy's own pipelines."""

import pickle
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc  # noqa: E402

from elmo import Embedder  # noqa: E402
from elmo.errors import ConfigError, TextWarning, WeightFileError  # noqa: E402
from elmo.integrations.spacy import sentence_places  # noqa: E402

TEXT = "The bank was  steep. He went to the bank\nto get money.  "


def pipeline(model: str, *before: str, **config):
    """English, the components `before`, and "elmo"."""
    nlp = spacy.blank("en")
    for name in before:
        nlp.add_pipe(name)
    nlp.add_pipe("elmo", config={"model": model} | config)
    return nlp


@pytest.fixture
def nlp(tiny_model):
    return pipeline(tiny_model, "sentencizer")


@pytest.mark.parametrize("layers", ["average", "top", 0, [0.5, 0.25, 0.25], "all"])
def test_vectors_are_those_of_the_embedder_bit_for_bit(tiny_model, layers):
    nlp = pipeline(tiny_model, "sentencizer", layers=layers)
    docs = list(nlp.pipe([TEXT, "", "One.", "Zwei drei"]))
    embedder = Embedder.from_pretrained(tiny_model)
    for doc in docs:
        for places in sentence_places(doc):
            (expected,) = embedder.embed([[doc[place].text for place in places]], layers)
            if layers == "all":
                expected = np.concatenate(list(expected), axis=1)
            np.testing.assert_array_equal(doc.tensor[places], expected)
    spaces = [token.i for token in docs[0] if token.is_space]
    assert len(spaces) >= 2
    assert not docs[0].tensor[spaces].any()
    assert docs[1].tensor.shape == (0, docs[0].tensor.shape[1])


def test_sentences_are_units_and_a_doc_without_them_is_one(tiny_model, nlp):
    doc = nlp(TEXT)
    assert len(sentence_places(doc)) == len(list(doc.sents)) == 3
    whole = pipeline(tiny_model)
    assert len(sentence_places(whole(TEXT))) == 1
    assert not np.array_equal(whole(TEXT).tensor, doc.tensor)


def test_extensions_and_hooks_give_the_same_vectors(nlp):
    doc = nlp(TEXT)
    span = doc[1:4]
    np.testing.assert_array_equal(doc[1]._.elmo, doc.tensor[1])
    np.testing.assert_array_equal(doc[1].vector, doc.tensor[1])
    np.testing.assert_array_equal(span._.elmo, doc.tensor[[1, 2]].mean(axis=0))
    np.testing.assert_array_equal(span.vector, span._.elmo)
    assert not span[2]._.elmo.any()  # whitespace
    words = [token.i for token in doc if not token.is_space]
    np.testing.assert_array_equal(doc.vector, doc.tensor[words].mean(axis=0))
    assert doc[1].has_vector
    assert doc[1].vector_norm == pytest.approx(np.linalg.norm(doc.tensor[1]))


def test_one_word_in_two_contexts_is_not_the_same(nlp):
    """spaCy's own similarity of two tokens with the same text is 1, whatever their vectors are."""
    doc = nlp(TEXT)
    one, two = (token for token in doc if token.text == "bank")
    expected = np.dot(one.vector, two.vector) / (one.vector_norm * two.vector_norm)
    assert one.similarity(two) == pytest.approx(expected, abs=1e-6)
    assert one.similarity(two) < 0.9999
    assert one.similarity(one) == pytest.approx(1)
    space = next(token for token in doc if token.is_space)
    assert one.similarity(space) == 0
    assert doc[:2].similarity(doc) == pytest.approx(doc.similarity(doc[:2]))


def test_without_hooks_spacys_own_vectors_stay(tiny_model):
    doc = pipeline(tiny_model, hooks=False)("a bank")
    assert doc.user_token_hooks == {}
    assert doc[1]._.elmo.shape == (16,)


@pytest.mark.filterwarnings("ignore:.*W109")
def test_docs_from_other_processes_and_from_bytes_keep_their_vectors(nlp):
    texts = [f"Sentence {number} is here." for number in range(20)]
    for one, other in zip(nlp.pipe(texts), nlp.pipe(texts, n_process=2, batch_size=5), strict=True):
        np.testing.assert_array_equal(one.tensor, other.tensor)
        np.testing.assert_array_equal(one[1]._.elmo, other[1]._.elmo)
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(one.to_bytes())
    np.testing.assert_array_equal(again._.elmo, one._.elmo)


def test_a_doc_without_vectors_says_so(nlp):
    with pytest.raises(ConfigError, match="The doc has no ELMo vectors.*nlp.add_pipe"):
        _ = nlp.make_doc("a b")._.elmo


def test_a_saved_pipeline_has_no_weights_and_its_models_vectors_alone(nlp, tmp_path, tiny_model, other_model):
    before = nlp(TEXT)
    nlp.to_disk(tmp_path / "saved")
    assert sum(path.stat().st_size for path in (tmp_path / "saved" / "elmo").rglob("*")) < 10_000
    np.testing.assert_array_equal(spacy.load(tmp_path / "saved")(TEXT).tensor, before.tensor)
    copied = pipeline(tiny_model, "sentencizer")
    copied.from_bytes(nlp.to_bytes())
    np.testing.assert_array_equal(copied(TEXT).tensor, before.tensor)
    assert len(pickle.dumps(nlp.get_pipe("elmo").reference)) < 1000
    config = tmp_path / "saved" / "config.cfg"
    config.write_text(config.read_text().replace(tiny_model, other_model))
    with pytest.raises(WeightFileError, match="but this was made with"):
        spacy.load(tmp_path / "saved")(TEXT)


def test_a_place_before_tok2vec_or_its_listeners_is_refused(tiny_model):
    nlp = pipeline(tiny_model)
    nlp.add_pipe("tok2vec")
    with pytest.raises(ConfigError, match="'tok2vec' comes after 'elmo'.*overwrites.*last=True"):
        nlp.get_pipe("elmo")(nlp.make_doc("a b"))
    listening = pipeline(tiny_model, "tok2vec")
    upstream = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    tagger = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": upstream}
    listening.add_pipe("tagger", config={"model": tagger})
    with pytest.raises(ConfigError, match="'tagger' comes after 'elmo'.*as tok2vec's"):
        listening.get_pipe("elmo")(listening.make_doc("a b"))


def test_the_entry_points_of_the_package_are_what_spacy_needs():
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    factories = project["entry-points"]["spacy_factories"]
    architectures = project["entry-points"]["spacy_architectures"]
    made = EntryPoint("elmo", factories["elmo"], "spacy_factories").load()
    layer = EntryPoint("x", architectures["elmo.Tok2Vec.v1"], "spacy_architectures").load()
    assert (made.__module__, layer.__module__) == ("elmo.integrations.spacy", "elmo.integrations.spacy_tok2vec")


def test_the_guide_runs(run_guide):
    run_guide("spacy.md")


def test_tokens_merged_afterwards_have_the_mean_and_split_ones_are_refused(tiny_model):
    nlp = pipeline(tiny_model)
    doc = nlp("New York is LosAngeles .")
    rows = np.array(doc.tensor)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    np.testing.assert_allclose(doc[0]._.elmo, rows[:2].mean(axis=0))
    np.testing.assert_array_equal(doc[1]._.elmo, rows[2])
    np.testing.assert_allclose(doc[0:2]._.elmo, (rows[:2].mean(axis=0) + rows[2]) / 2)
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["Los", "Angeles"], heads=[(doc[2], 1), doc[1]])
    with pytest.raises(ConfigError, match="the doc has 5 tokens, but doc.tensor .* Tokens were split"):
        _ = doc[3]._.elmo
    again = nlp.get_pipe("elmo")(doc)
    assert again[3]._.elmo.any()
    part = again[1:3].as_doc()
    np.testing.assert_array_equal(part[0]._.elmo, again[1]._.elmo)


@pytest.mark.filterwarnings("ignore:.*W109")
def test_a_merged_token_keeps_its_mean_in_bytes_and_from_other_processes(tiny_model):
    nlp = pipeline(tiny_model)
    texts = ["In New York it rained .", "New York is steep ."]
    expected = [nlp(text).tensor[[place, place + 1]].mean(axis=0) for text, place in zip(texts, (1, 0), strict=True)]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "New York"}])
    nlp.add_pipe("merge_entities")
    for doc, place, mean in zip(nlp.pipe(texts, n_process=2, batch_size=1), (1, 0), expected, strict=True):
        for one in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
            assert one[place].text == "New York"
            np.testing.assert_allclose(one[place]._.elmo, mean, rtol=1e-6)
            np.testing.assert_array_equal(one.tensor[place], one[place]._.elmo)


def test_vectors_that_are_changed_are_the_ones_that_tokens_have(tiny_model):
    nlp = pipeline(tiny_model)
    doc = nlp("The bank was steep .")
    doc.tensor = doc.tensor / np.linalg.norm(doc.tensor, axis=1, keepdims=True)
    assert np.linalg.norm(doc[1]._.elmo) == pytest.approx(1, abs=1e-6)
    doc.tensor = nlp("The bank was steep .").tensor[:, :8]
    assert doc[1]._.elmo.shape == (8,)
    doc = nlp("The bank was steep .")
    doc.tensor *= 2
    np.testing.assert_array_equal(doc[1]._.elmo, 2 * nlp("The bank was steep .")[1]._.elmo)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    np.testing.assert_array_equal(doc[1]._.elmo, 2 * nlp("The bank was steep .")[2]._.elmo)


def test_a_name_of_many_words_that_ends_in_a_dot_is_a_token_like_any_other(tiny_model):
    nlp = pipeline(tiny_model)
    docs = [Doc(nlp.vocab, words=["the", "Bank of New York Inc."]), Doc(nlp.vocab, words=["the", "bank"])]
    found, other = nlp.pipe(docs)
    assert found.tensor.shape == other.tensor.shape and found.tensor.all(axis=1).all()
    np.testing.assert_array_equal(other.tensor, nlp("the bank").tensor)


def test_whitespace_in_a_merged_token_does_not_count_in_its_mean(tiny_model):
    nlp = pipeline(tiny_model)
    doc = nlp("in New  York  ")
    before = doc[1:4]._.elmo.copy()
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:4])
    np.testing.assert_allclose(doc[1]._.elmo, before, rtol=1e-6)
    assert doc[2].is_space and not doc[2]._.elmo.any()
    assert nlp("  ")._.elmo.dtype == np.float32


def test_tokens_are_read_with_plain_quotes_unless_that_is_switched_off(tiny_model_of_words):
    with_plain, as_written = (pipeline(tiny_model_of_words, plain_quotes=plain) for plain in (True, False))
    with pytest.warns(TextWarning, match="typographic marks"):
        found = with_plain("“ a").tensor
    np.testing.assert_array_equal(found, with_plain('" a').tensor)
    assert not np.array_equal(found, as_written("“ a").tensor)
