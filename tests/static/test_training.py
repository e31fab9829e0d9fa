"""Static vectors trained here: word2vec and fastText through gensim."""

import unicodedata
from collections import Counter

import numpy as np
import pytest

from elmo.errors import ConfigError, MissingExtraError, TextError
from elmo.process.progress.report import SILENT
from elmo.static.training.corpus import Corpus, count_words
from elmo.static.training.settings import StaticSettings
from elmo.static.training.train import train_static_vectors

KINDS = ["word2vec", "fasttext"]


@pytest.fixture
def animals_and_stones(tmp_path):
    """Two groups of words that never meet."""
    random = np.random.default_rng(0)
    groups = (["cat", "dog", "hen", "cow"], ["flint", "slate", "chalk", "Marble"])
    lines = [" ".join(random.choice(groups[number % 2], size=8)) for number in range(600)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n\nrare\n", encoding="utf-8")
    return path


def settings_of(kind, **changes):
    values = {"kind": kind, "dim": 8, "epochs": 5, "learning_rate": 0.1, "window": 4}
    return StaticSettings(**{**values, "subsample": 0.0, "buckets": 100, **changes})


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_again(animals_and_stones, kind, recorded_progress):
    pytest.importorskip("gensim")
    settings = settings_of(kind)
    found = train_static_vectors(Corpus([animals_and_stones]), settings, progress=recorded_progress)
    static = found.static
    assert (len(static), static.dim, found.num_tokens, found.num_sentences) == (8, 8, 4800, 601)
    assert static.vectors.dtype == np.float32
    recorded_progress.require_stages(counting_words="bytes", training="bytes")
    again = train_static_vectors(Corpus([animals_and_stones]), settings).static
    np.testing.assert_array_equal(again.vectors, static.vectors)
    other = train_static_vectors(Corpus([animals_and_stones]), settings_of(kind, seed=1)).static
    assert not np.array_equal(other.vectors, static.vectors)


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_rows_belong_to_their_words_in_order_of_frequency(animals_and_stones, kind):
    models = pytest.importorskip("gensim").models
    corpus = Corpus([animals_and_stones])
    sentences = list(corpus.sentences())
    counts = Counter(word for sentence in sentences for word in sentence)
    found = train_static_vectors(corpus, settings_of(kind, architecture="cbow")).static
    assert list(found.words) == sorted((w for w in counts if counts[w] >= 5), key=lambda word: (-counts[word], word))
    options = {"bucket": 100} if kind == "fasttext" else {}
    model = (models.FastText if kind == "fasttext" else models.Word2Vec)(
        vector_size=8, window=4, sg=0, negative=5, sample=0.0, alpha=0.1, min_count=5, seed=0, workers=1, epochs=5,
        **options,
    )  # fmt: skip
    model.build_vocab_from_freq({word: counts[word] for word in found.words})
    model.train(sentences, total_examples=len(sentences), epochs=5)
    for word in found.words:
        np.testing.assert_array_equal(found.lookup([word])[0], model.wv[word])


def test_words_are_counted_lower_cased_and_bounded(animals_and_stones):
    corpus = Corpus([animals_and_stones], lower_case=True)
    words, num_sentences = count_words(corpus, 5, 0, SILENT)
    assert ("marble" in words, "Marble" in words, "rare" in words, num_sentences) == (True, False, False, 601)
    assert len(count_words(corpus, 1, 3, SILENT)[0]) == 3


def test_words_that_a_file_can_not_hold_have_no_vector(tmp_path):
    """Found before the training and not when it is over."""
    (tmp_path / "text.txt").write_text("a b\n", encoding="utf-8")
    corpus = Corpus([tmp_path / "text.txt"], tokenize=lambda line: [*line.split(), "c d"])
    assert list(count_words(corpus, 1, 0, SILENT)[0]) == ["a", "b"]


def test_letters_that_are_taken_apart_are_words_of_whole_ones(tmp_path):
    (tmp_path / "text.txt").write_text(unicodedata.normalize("NFD", "학교 café\n"), encoding="utf-8")
    assert list(Corpus((tmp_path / "text.txt",)).sentences()) == [["학교", "café"]]


def test_texts_that_give_no_vectors_are_refused(tmp_path, animals_and_stones):
    with pytest.raises(TextError, match="none of the 9 distinct words occurs at least 5000 times"):
        train_static_vectors(Corpus([animals_and_stones]), StaticSettings(min_count=5000))
    with pytest.raises(ConfigError, match="stdin can be read only once"):
        Corpus(["-"])
    with pytest.raises(TextError, match="no such file"):
        Corpus([tmp_path / "nothing"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_without_neighbors_is_refused(tmp_path, kind):
    pytest.importorskip("gensim")
    path = tmp_path / "words.txt"
    path.write_text("cat\ndog\n\ncat rare\n" * 5 + "dog once\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"words.txt: no sentence has two words that get vectors"):
        train_static_vectors(Corpus([path]), settings_of(kind, min_count=6))
    assert len(train_static_vectors(Corpus([path]), settings_of(kind, min_count=5)).static) == 3


# Also where they are not used.
@pytest.mark.parametrize(
    "changes",
    [
        *({"dim": 0}, {"window": 0}, {"epochs": 0}, {"seed": 1 << 32}, {"negatives": 0}),
        *({"min_ngram": -2}, {"min_ngram": 0}, {"min_ngram": 9}, {"min_ngram": 3, "max_ngram": 2}),
        *({"dim": 10**12}, {"epochs": 10**12}, {"negatives": 10**12}, {"buckets": 10**12}),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes):
    with pytest.raises(ConfigError, match=f"{next(iter(changes))} must be"):
        StaticSettings(**changes)


def test_no_parts_of_words_need_no_shorter_ones():
    assert StaticSettings(kind="fasttext", max_ngram=0).min_ngram == 3


def test_without_gensim_the_message_names_the_command(monkeypatch, animals_and_stones):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[static\]'"):
        train_static_vectors(Corpus([animals_and_stones]), StaticSettings())


def test_threads_by_the_million_are_refused(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    with pytest.raises(ConfigError, match=r"workers must be from 1 to 1024 \(got 1000000000000\)"):
        train_static_vectors(Corpus([tmp_path / "text"]), StaticSettings(), workers=10**12)


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_the_rate_falls_to_the_end_of_a_text_of_one_line(tmp_path, monkeypatch, kind):
    """gensim asks for a rate for each 10,000 words, from the share of the sentences that it has read."""
    word2vec = pytest.importorskip("gensim.models.word2vec").Word2Vec
    rates, rate_at = [], word2vec._get_next_alpha

    def noted(*args):
        rates.append(rate_at(*args))
        return rates[-1]

    monkeypatch.setattr(word2vec, "_get_next_alpha", noted)
    (tmp_path / "text.txt").write_text("a b " * 50_000, encoding="utf-8")
    settings = StaticSettings(kind=kind, dim=2, epochs=2, buckets=10)
    trained = train_static_vectors(Corpus([tmp_path / "text.txt"]), settings)
    assert trained.num_sentences == 10
    expected = 0.025 - np.arange(20) / 20 * (0.025 - 1e-4)
    assert {round(rate, 9) for rate in rates} == {round(rate, 9) for rate in expected}
