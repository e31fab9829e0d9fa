"""Static vectors trained here: GloVe against plain loops, word2vec and fastText through gensim."""

import math
import unicodedata
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError, MissingExtraError, TextError
from elmo.process.progress.report import SILENT
from elmo.static.training import glove
from elmo.static.training.corpus import Corpus, count_words
from elmo.static.training.glove import CooccurrenceCounter, GloveTables
from elmo.static.training.settings import StaticSettings
from elmo.static.training.train import train_static_vectors

KINDS = ["glove", "word2vec", "fasttext"]


def counted_plainly(sentences, window):
    """GloVe's own way: from each word back to the ones before it, both cells of the symmetric table."""
    table = defaultdict(float)
    for sentence in sentences:
        for place, word in enumerate(sentence):
            for distance in range(1, window + 1):
                if place - distance >= 0:
                    table[word, sentence[place - distance]] += 1 / distance
                    table[sentence[place - distance], word] += 1 / distance
    return dict(table)


@pytest.mark.parametrize("chunk", [1, 40, 1 << 20])
@pytest.mark.parametrize("window", [1, 3, 12])
def test_cooccurrences_equal_the_plain_count(monkeypatch, chunk, window):
    monkeypatch.setattr(glove, "_CHUNK_WORDS", chunk)
    random = np.random.default_rng(window)
    sentences = [random.integers(0, 7, size=length) for length in random.integers(0, 15, size=40)]
    counter = CooccurrenceCounter(7, window)
    for sentence in sentences:
        counter.add(sentence)
    found = counter.result()
    expected = counted_plainly([sentence.tolist() for sentence in sentences], window)
    assert (found.first <= found.second).all()
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert set(pairs) == {pair for pair in expected if pair[0] <= pair[1]}
    assert len(set(pairs)) == len(pairs)
    np.testing.assert_allclose(found.counts, [expected[pair] for pair in pairs], rtol=1e-12)


def test_nothing_said_is_no_pair():
    counter = CooccurrenceCounter(3, 5)
    counter.add(np.array([], dtype=np.int64))
    counter.add(np.array([2]))
    assert len(counter.result().counts) == 0


def stepped_plainly(values, squares, cells, settings):
    """One step, cell by cell of the symmetric table, in double precision."""
    gradients = np.zeros_like(values)
    losses = []
    dim = settings.dim
    for (near, far), count in cells.items():
        one, other = values[0, near], values[1, far]
        miss = one[:dim] @ other[:dim] + one[dim] + other[dim] - math.log(count)
        weight = min(1, count / settings.x_max) ** settings.alpha
        losses.append(0.5 * weight * miss**2)
        gradients[0, near] += weight * miss * np.append(other[:dim], 1)
        gradients[1, far] += weight * miss * np.append(one[:dim], 1)
    squares = squares + gradients**2
    return values - settings.start_rate * gradients / np.sqrt(squares), squares, np.mean(losses)


def test_a_step_of_glove_equals_the_plain_loop():
    settings = StaticSettings(kind="glove", dim=4, x_max=3)
    random = np.random.default_rng(0)
    tables = GloveTables(6, settings, random)
    for _ in range(3):
        places = [(i, j) for i in range(6) for j in range(i, 6) if random.random() < 0.7]
        counts = random.uniform(0.1, 8, size=len(places))
        cells = {}
        for (i, j), count in zip(places, counts, strict=True):
            cells[i, j] = cells[j, i] = count
        expected, squares, loss = stepped_plainly(
            tables.values.double().numpy(), tables.squares.double().numpy(), cells, settings
        )
        first, second = (torch.tensor(part) for part in zip(*places, strict=True))
        assert tables.step(first, second, torch.from_numpy(counts)) == pytest.approx(loss, rel=1e-5)
        np.testing.assert_allclose(tables.values.numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(tables.squares.numpy(), squares, atol=1e-5)
    np.testing.assert_array_equal(tables.vectors(), (tables.values[0] + tables.values[1])[:, :4].numpy())


@pytest.fixture
def animals_and_stones(tmp_path):
    """Two groups of words that never meet."""
    random = np.random.default_rng(0)
    groups = (["cat", "dog", "hen", "cow"], ["flint", "slate", "chalk", "Marble"])
    lines = [" ".join(random.choice(groups[number % 2], size=8)) for number in range(600)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n\nrare\n", encoding="utf-8")
    return path


def likeness(static, one, other):
    a, b = static.lookup([one, other])
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def settings_of(kind, **changes):
    rate = 0.05 if kind == "glove" else 0.1
    values = {"kind": kind, "dim": 8, "epochs": 40 if kind == "glove" else 5, "learning_rate": rate}
    return StaticSettings(**{**values, "window": 4, "subsample": 0.0, "x_max": 1e4, "buckets": 100, **changes})


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_stand_together_become_alike_and_a_seed_gives_the_same_again(
    animals_and_stones, kind, recorded_progress
):
    if kind != "glove":
        pytest.importorskip("gensim")
    settings = settings_of(kind)
    found = train_static_vectors(Corpus([animals_and_stones]), settings, progress=recorded_progress)
    static = found.static
    assert (len(static), static.dim, found.num_tokens, found.num_sentences) == (8, 8, 4800, 601)
    assert static.vectors.dtype == np.float32
    together = np.mean([likeness(static, "cat", other) for other in ("dog", "hen", "cow")])
    apart = np.mean([likeness(static, "cat", other) for other in ("flint", "slate", "chalk", "Marble")])
    assert together > apart + 0.3
    of_pairs = {"counting_pairs": "bytes", "training": "pairs"}
    recorded_progress.require_stages(counting_words="bytes", **of_pairs if kind == "glove" else {"training": "bytes"})
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
        train_static_vectors(Corpus([animals_and_stones]), StaticSettings(kind="glove", min_count=5000))
    with pytest.raises(ConfigError, match="standard input, which can be read only once"):
        Corpus(["-"])
    with pytest.raises(ConfigError, match="no text was given"):
        Corpus([])
    with pytest.raises(TextError, match="no such file"):
        Corpus([tmp_path / "nothing"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_without_neighbors_is_refused(tmp_path, kind):
    if kind != "glove":
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
        *({"dim": 0}, {"window": 64}, {"epochs": -1}, {"x_max": 0.0}, {"seed": 1 << 32}, {"negatives": -1}),
        *({"min_ngram": -2}, {"min_ngram": 0}, {"min_ngram": 9}, {"min_ngram": 3, "max_ngram": 2}),
        *({"dim": 10**12}, {"epochs": 10**12}, {"negatives": 10**12}, {"buckets": 10**12}, {"alpha": float("nan")}),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes):
    with pytest.raises(ConfigError, match=f"{next(iter(changes))} must be"):
        StaticSettings(**changes)


def test_no_parts_of_words_need_no_shorter_ones():
    assert StaticSettings(kind="fasttext", max_ngram=0).min_ngram == 3


def test_numbers_that_run_away_are_an_error(animals_and_stones):
    with pytest.raises(ConfigError, match="Choose a smaller --learning-rate"):
        train_static_vectors(Corpus([animals_and_stones]), settings_of("glove", learning_rate=1e30))


def test_without_gensim_the_message_names_the_command(monkeypatch, animals_and_stones):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[static\]'"):
        train_static_vectors(Corpus([animals_and_stones]), StaticSettings())


def test_threads_by_the_million_are_refused(tmp_path):
    (tmp_path / "text").write_text("a b\n")
    with pytest.raises(ConfigError, match=r"workers must be from 1 to 1024 \(got 1000000000000\)"):
        train_static_vectors(Corpus([tmp_path / "text"]), StaticSettings(kind="glove"), workers=10**12)


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
