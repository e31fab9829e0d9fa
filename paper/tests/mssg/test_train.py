"""MSSG: C against a plain loop, skip-gram as its simplest case, and words of two meanings that must be told apart."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from elmo.errors import TextError
from elmo.static.training.corpus import Corpus
from elmo_paper.mssg.compiled import compiled
from elmo_paper.mssg.encoder import MSSGEncoder
from elmo_paper.mssg.settings import MSSGSettings
from elmo_paper.mssg.train import SenseTables, blocks, step, step_plainly, train_mssg

SMALL = MSSGSettings(dim=19, window=3, senses=3, sense_words=5, negatives=2, subsample=0.05)


def random_text(words=12, sentences=60, seed=0):
    random = np.random.default_rng(seed)
    chances = 1 / np.arange(1, words + 1)
    lengths = random.integers(0, 12, size=sentences)
    return [[f"w{word}" for word in random.choice(words, size=n, p=chances / chances.sum())] for n in lengths]


def corpus_of(folder, sentences):
    path = folder / "text.txt"
    path.write_text("".join(f"{' '.join(sentence)}\n" for sentence in sentences), encoding="utf-8")
    return Corpus([path])


def drawn_blocks(text, settings, seed=0):
    counts = dict(Counter(word for sentence in text for word in sentence).most_common())
    return counts, list(blocks(iter(text), counts, settings, np.random.default_rng(seed)))


@pytest.mark.skipif(compiled() is None, reason="there is no C compiler here")
@pytest.mark.parametrize("changes", [{}, {"new_sense_below": -0.2}, {"new_sense_below": 0.9}, {"senses": 1}])
def test_c_updates_as_the_plain_loop_does(changes):
    settings = dataclasses.replace(SMALL, **changes)
    counts, found = drawn_blocks(random_text(), settings)
    fast, plain = (SenseTables.begun(len(counts), settings, np.random.default_rng(1)) for _ in range(2))
    before = {name: array.copy() for name, array in vars(fast).items()}
    for block in found:
        step(fast, block, settings)
        step_plainly(plain, block, settings)
    for name, array in vars(plain).items():
        # A sum of 19 products, a few hundred times over, none of which shrinks: 1e-7 each.
        np.testing.assert_allclose(vars(fast)[name], array, rtol=1e-4, atol=1e-6, err_msg=name)
        assert name in ("starts", "limits", "used") or not np.array_equal(array, before[name]), name
    assert fast.counts.sum() > 200


def test_blocks_draw_once_for_each_pair_and_leave_out_frequent_words():
    text = [["a"] * 30, ["b", "unknown", "c", "b"], [], ["c"]] * 50
    counts = {"a": 1500, "b": 100, "c": 100}
    settings = dataclasses.replace(SMALL, subsample=0.0, window=2)
    (block,) = blocks(iter(text), counts, settings, np.random.default_rng(0))
    sentences = np.split(block.ids, np.flatnonzero(block.ids < 0) + 1)[:-1]
    assert [one.tolist() for one in sentences[:3]] == [[0] * 30 + [-1], [1, 2, 1, -1], [-1]]
    pairs, place = 0, 0
    for sentence in sentences:
        for at in range(len(sentence) - 1):
            radius = block.radius[place + at]
            pairs += sum(0 < abs(at - other) <= radius for other in range(len(sentence) - 1))
        place += len(sentence)
    assert len(block.drawn) == 2 * pairs
    assert set(block.radius.tolist()) == {1, 2}
    shares = np.array([1500, 100, 100]) ** 0.75
    # Five standard deviations of a share of so many draws.
    drawn = np.bincount(block.drawn) / len(block.drawn)
    np.testing.assert_allclose(drawn, shares / shares.sum(), atol=5 * 0.5 / len(block.drawn) ** 0.5)
    (thinner,) = blocks(iter(text), counts, dataclasses.replace(settings, subsample=0.01), np.random.default_rng(0))
    left = np.bincount(thinner.ids[thinner.ids >= 0], minlength=3)
    rarity = 0.01 / (np.array([1500, 100, 100]) / 1700)
    np.testing.assert_allclose(left, np.array([1500, 100, 100]) * (np.sqrt(rarity) + rarity), atol=5 * 1500**0.5 / 2)


def skip_gram(settings, tables, block):
    """Skip-gram with negative sampling by AdaGrad, written out in double precision: no senses, no contexts."""
    own, far = tables.sense_values.astype(float), tables.values.astype(float)
    squares, far_squares = np.zeros_like(own), np.zeros_like(far)
    drawn = iter(block.drawn.reshape(-1, settings.negatives).tolist())
    start = 0
    for end in np.flatnonzero(block.ids < 0).tolist():
        for place in range(start, end):
            word = block.ids[place]
            for near in range(max(start, place - block.radius[place]), min(end, place + block.radius[place] + 1)):
                if near == place:
                    continue
                pairs = [(block.ids[near], 1.0)]
                pairs += [(other, 0.0) for other in next(drawn) if other != block.ids[near]]
                slope = np.zeros(settings.dim)
                for target, label in pairs:
                    error = label - 1 / (1 + np.exp(-own[word] @ far[target]))
                    slope += error * far[target]
                    gradient = error * own[word]
                    far_squares[target] += gradient**2
                    far[target] += settings.learning_rate * gradient / (0.1 + np.sqrt(far_squares[target]))
                squares[word] += slope**2
                own[word] += settings.learning_rate * slope / (0.1 + np.sqrt(squares[word]))
        start = end + 1
    return own, far


@pytest.mark.parametrize("changes", [{"senses": 1}, {"sense_words": 0}, {"new_sense_below": -1.0}])
def test_one_sense_is_plain_skip_gram(changes):
    settings = dataclasses.replace(SMALL, **changes)
    counts, (block,) = drawn_blocks(random_text(seed=2), settings)
    tables = SenseTables.begun(len(counts), settings, np.random.default_rng(1))
    first = tables.starts
    begun = dataclasses.replace(tables, sense_values=tables.sense_values[first].copy(), values=tables.values.copy())
    own, far = skip_gram(settings, begun, block)
    step(tables, block, settings)
    np.testing.assert_allclose(tables.sense_values[first], own, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(tables.values, far, rtol=1e-4, atol=1e-6)
    assert tables.used.max() == 1


def two_topics(sentences=3000, seed=0):
    """Sentences of a topic's words around 은행, which two words were renamed to: one of each topic."""
    random = np.random.default_rng(seed)
    topics = [[f"{topic}{number}" for number in range(30)] for topic in ("돈", "나무")]
    lines, truth = [], []
    for _ in range(sentences):
        topic = int(random.integers(2))
        sentence = random.choice(topics[topic], size=8).tolist()
        sentence[4] = "은행"
        lines.append(sentence)
        truth.append(topic)
    return lines, truth


@pytest.mark.parametrize("changes", [{"senses": 2}, {"senses": 3}, {"new_sense_below": 0.0}])
def test_an_artificial_homograph_is_split(tmp_path, changes):
    lines, truth = two_topics()
    settings = MSSGSettings(dim=20, epochs=3, subsample=0.0, sense_words=1, window=6, **changes)
    senses = train_mssg(corpus_of(tmp_path, lines), settings).senses
    assert senses.window == settings.window
    encoder = MSSGEncoder(senses)
    contexts = [senses.contexts(line, encoder.window) for line in lines]
    rows = [int(senses.chosen(line, context)[4]) for line, context in zip(lines, contexts, strict=True)]
    votes = Counter(zip(rows, truth, strict=True))
    purity = sum(max(votes[row, 0], votes[row, 1]) for row in set(rows)) / len(rows)
    majority = max(truth.count(0), truth.count(1)) / len(truth)
    assert purity > 0.9 > majority
    assert len(senses.rows("은행")) >= 2 and len(senses.rows("돈1")) == 1


def test_senses_that_nothing_chose_are_left_out_and_the_most_frequent_comes_first():
    settings = dataclasses.replace(SMALL, senses=4, sense_words=1)
    tables = SenseTables.begun(2, settings, np.random.default_rng(0))
    tables.counts[:] = [1, 5, 1, 9, 1]
    senses = tables.result(("a", "b"), 1.0, window=5)
    np.testing.assert_array_equal(senses.vectors, tables.sense_values[[3, 1, 4]])
    np.testing.assert_array_equal(senses.centroids, tables.centroids[[3, 1, 4]])
    assert senses.bounds.tolist() == [0, 2, 3]


def test_it_is_repeatable_and_a_seed_changes_it(tmp_path, recorded_progress):
    corpus = corpus_of(tmp_path, random_text(sentences=300))
    once = train_mssg(corpus, SMALL, progress=recorded_progress).senses
    recorded_progress.require_stages(counting_words="bytes", training="bytes")
    again, other = (train_mssg(corpus, dataclasses.replace(SMALL, seed=n)).senses for n in (0, 1))
    np.testing.assert_array_equal(once.vectors, again.vectors)
    assert not np.array_equal(once.vectors, other.vectors)


@pytest.mark.parametrize("text", [[], [[]], [["w0"]], [["w0"], ["w1"]]])
def test_a_block_without_a_pair_changes_nothing(text):
    """Such as the last one of a text whose tokens fill all blocks before it."""
    settings = dataclasses.replace(SMALL, subsample=0.0)
    tables = SenseTables.begun(2, settings, np.random.default_rng(0))
    before = {name: array.copy() for name, array in vars(tables).items()}
    for block in blocks(iter(text), {"w0": 3, "w1": 2}, settings, np.random.default_rng(0)):
        step(tables, block, settings)
        step_plainly(tables, block, settings)
    assert all(np.array_equal(array, before[name]) for name, array in vars(tables).items())


def test_a_text_of_which_nothing_is_left_is_refused(tmp_path):
    """Each word is kept with a chance of 4.6 percent: sqrt(0.001 / 0.5) + 0.001 / 0.5."""
    corpus, settings = corpus_of(tmp_path, [["고양이", "개"]]), MSSGSettings(dim=4, min_count=1)
    with pytest.raises(TextError, match=r"text.txt: with so little text.* keep all of them with --subsample 0"):
        train_mssg(corpus, settings)
    assert train_mssg(corpus, dataclasses.replace(settings, subsample=0.0)).senses
