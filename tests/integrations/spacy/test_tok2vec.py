"""The architecture elmo.Tok2Vec.v1: its gradients, and training with it."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

spacy = pytest.importorskip("spacy")

from spacy.cli.init_config import init_config  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

from elmo import Embedder  # noqa: E402
from elmo.errors import ConfigError, WeightFileError  # noqa: E402
from elmo.integrations.spacy_tok2vec import make  # noqa: E402

WORDS = {"Anna": "PROPN", "sees": "VERB", "the": "DET", "dog": "NOUN", "in": "ADP", "Rome": "PROPN", ".": "PUNCT"}


def config_of(model: str, width: int):
    """spaCy's own configuration of a tagger and a recognizer of names, with one layer of ours below both."""
    config = init_config(lang="en", pipeline=["tok2vec", "tagger", "ner"], optimize="efficiency", silent=True)
    config["paths"] |= {"train": "train.spacy", "dev": "train.spacy"}
    config["training"] |= {"max_steps": 40}
    config["training"]["batcher"] |= {"size": 40}
    config["training"]["optimizer"] |= {"learn_rate": 0.01}
    config["components"]["tok2vec"]["model"] = {"@architectures": "elmo.Tok2Vec.v1", "model": model}
    for name in ("tagger", "ner"):
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width}
        config["components"][name]["model"]["tok2vec"] = listener
    return config


def docs_of(nlp, count: int = 40) -> list[Doc]:
    chance = random.Random(1)
    docs = []
    for _ in range(count):
        words = chance.choices(list(WORDS), k=chance.randrange(3, 8))
        ents = ["B-LOC" if word == "Rome" else "O" for word in words]
        docs.append(Doc(nlp.vocab, words=words, tags=[WORDS[word] for word in words], ents=ents))
    return docs


def test_the_untrained_mix_is_the_average(tiny_model):
    nlp = spacy.blank("en")
    layer = make(tiny_model)
    docs = [nlp.make_doc("Anna  sees the dog."), nlp.make_doc(""), nlp.make_doc("x")]
    layer.initialize(X=docs)
    found = layer.predict(docs)
    assert [array.shape for array in found] == [(len(doc), 16) for doc in docs]
    words = [token.i for token in docs[0] if not token.is_space]
    (expected,) = Embedder.from_pretrained(tiny_model).embed([[docs[0][i].text for i in words]], "average")
    np.testing.assert_allclose(found[0][words], expected, atol=1e-6)
    assert not np.delete(found[0], words, axis=0).any()


def test_gradients_are_those_of_finite_differences(tiny_model):
    nlp = spacy.blank("en")
    layer = make(tiny_model)
    docs = [nlp.make_doc("Anna sees the dog ."), nlp.make_doc(""), nlp.make_doc("in Rome")]
    layer.initialize(X=docs)
    random_ = np.random.default_rng(0)
    layer.set_param("weights", random_.normal(size=3).astype("f"))
    layer.set_param("gamma", np.array([1.5], "f"))
    gradients = [random_.normal(size=(len(doc), 16)).astype("f") for doc in docs]

    def loss() -> float:
        return sum(float((a * b).sum(dtype=np.float64)) for a, b in zip(layer.predict(docs), gradients, strict=True))

    _, backprop = layer.begin_update(docs)
    assert backprop(gradients) == []
    for name in ("weights", "gamma"):
        value, step = layer.get_param(name).copy(), 1e-2
        for place in range(len(value)):
            ends = []
            for sign in (1, -1):
                moved = value.copy()
                moved[place] += sign * step
                layer.set_param(name, moved)
                ends.append(loss())
            layer.set_param(name, value)
            expected = (ends[0] - ends[1]) / (2 * step)
            assert layer.get_grad(name)[place] == pytest.approx(expected, rel=2e-3, abs=2e-3)


def test_a_name_of_many_words_that_ends_in_a_dot_is_a_token_like_any_other(tiny_model):
    layer, doc = make(tiny_model), Doc(spacy.blank("en").vocab, words=["the", "Bank of New York Inc."])
    layer.initialize(X=[doc])
    (rows,) = layer.predict([doc])
    assert rows.shape == (2, 16) and rows.all()


def test_less_memory_than_none_is_refused(tiny_model):
    with pytest.raises(ConfigError, match="cache_megabytes must be 0 or more .got -1"):
        make(tiny_model, cache_megabytes=-1)


def test_what_is_remembered_changes_nothing_and_is_bounded(tiny_model, monkeypatch):
    nlp = spacy.blank("en")
    docs = [nlp.make_doc(f"the dog {number} sees") for number in range(30)]
    found = []
    for megabytes in (0, 256):
        layer = make(tiny_model, cache_megabytes=megabytes)
        layer.initialize(X=docs)
        found += [layer.predict(docs), layer.predict(docs)]
        memory = layer.attrs["layers"]
        assert memory._bytes == (0 if megabytes == 0 else 30 * 3 * 4 * 16 * 4)
        memory.max_bytes = 1000
        layer.predict(docs)
        assert memory._bytes <= 1000
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    calls = []
    layer = make(tiny_model)
    layer.initialize(X=docs)
    embedder = layer.attrs["layers"].reference.embedder
    original = embedder.embed
    monkeypatch.setattr(embedder, "embed", lambda rows: calls.append(len(rows := [*rows])) or original(rows))
    layer.predict(docs)
    layer.predict(docs)
    assert calls == [30, 0]


def test_spacy_trains_a_tagger_and_ner_on_one_mix_and_saves_no_weights_of_the_bilm(tmp_path, quiet_place):
    """`spacy train` itself, for 40 batches, on the bundled model: random vectors tell words apart too badly."""
    from spacy.cli.train import train

    DocBin(docs=docs_of(spacy.blank("en"))).to_disk(quiet_place / "train.spacy")
    import elmo.integrations.spacy_tok2vec  # noqa: F401 - an installed package has an entry point for it

    filled = spacy.util.load_model_from_config(config_of("small-en", 512), auto_fill=True).config
    filled.to_disk(quiet_place / "full.cfg")
    train(quiet_place / "full.cfg", tmp_path / "out")
    nlp = spacy.load(tmp_path / "out" / "model-last")
    weights = nlp.get_pipe("tok2vec").model.get_param("weights")
    assert np.abs(weights).max() > 1e-3
    assert sum(path.stat().st_size for path in (tmp_path / "out" / "model-last" / "tok2vec").rglob("*")) < 10_000
    doc = nlp("Anna sees the dog in Rome .")
    assert [token.tag_ for token in doc] == [WORDS[token.text] for token in doc]
    again = spacy.load(tmp_path / "out" / "model-last")
    assert [token.tag_ for token in again(doc.text)] == [token.tag_ for token in doc]


def test_many_threads_get_the_same_layers_from_a_memory_that_is_too_small(tiny_model):
    nlp = spacy.blank("en")
    docs = [nlp.make_doc(f"the dog {number} sees") for number in range(30)]
    layer = make(tiny_model)
    layer.initialize(X=docs)
    expected = layer.predict(docs)
    layer.attrs["layers"].max_bytes = 2000
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: layer.predict(docs), range(40)):
            for one, two in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, two)


def test_another_model_than_it_was_trained_on_is_an_error(tiny_model, other_model, tmp_path):
    nlp = spacy.util.load_model_from_config(config_of(tiny_model, 16), auto_fill=True)
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc) for doc in docs_of(nlp)])
    nlp.to_disk(tmp_path / "saved")
    config = tmp_path / "saved" / "config.cfg"
    config.write_text(config.read_text().replace(tiny_model, other_model))
    with pytest.raises(WeightFileError, match="but this was made with"):
        spacy.load(tmp_path / "saved")("Anna sees")
