"""GloVe against plain loops, and on a text of two groups of words."""

import math
from collections import defaultdict

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError, TextError
from elmo.static.training.corpus import Corpus
from elmo_paper.glove import train
from elmo_paper.glove.settings import GloveSettings
from elmo_paper.glove.train import CooccurrenceCounter, GloveTables, train_glove


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
    monkeypatch.setattr(train, "_CHUNK_WORDS", chunk)
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
    return values - settings.learning_rate * gradients / np.sqrt(squares), squares, np.mean(losses)


def test_a_step_of_glove_equals_the_plain_loop():
    settings = GloveSettings(dim=4, x_max=3)
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


def settings_of(**changes):
    return GloveSettings(**{"dim": 8, "epochs": 40, "window": 4, "x_max": 1e4, **changes})


def likeness(static, one, other):
    a, b = static.lookup([one, other])
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_words_that_stand_together_become_alike_and_a_seed_gives_the_same_again(animals_and_stones, recorded_progress):
    found = train_glove(Corpus([animals_and_stones]), settings_of(), progress=recorded_progress)
    static = found.static
    assert (len(static), static.dim, found.num_tokens, found.num_sentences) == (8, 8, 4800, 601)
    together = np.mean([likeness(static, "cat", other) for other in ("dog", "hen", "cow")])
    apart = np.mean([likeness(static, "cat", other) for other in ("flint", "slate", "chalk", "Marble")])
    assert together > apart + 0.3
    recorded_progress.require_stages(counting_words="bytes", counting_pairs="bytes", training="pairs")
    again, other = (train_glove(Corpus([animals_and_stones]), settings_of(seed=seed)).static for seed in (0, 1))
    np.testing.assert_array_equal(again.vectors, static.vectors)
    assert not np.array_equal(other.vectors, static.vectors)


def test_numbers_that_run_away_are_an_error(animals_and_stones):
    with pytest.raises(ConfigError, match="Choose a smaller --learning-rate"):
        train_glove(Corpus([animals_and_stones]), settings_of(learning_rate=1e30))


def test_a_text_without_neighbors_is_refused(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("cat\ndog\n\ncat rare\n" * 5 + "dog once\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"words.txt: no sentence has two words that get vectors"):
        train_glove(Corpus([path]), settings_of(min_count=6))
