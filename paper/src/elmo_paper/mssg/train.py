"""MSSG and NP-MSSG: skip-gram with several vectors for a word, one of which each occurrence's context chooses.

A word has a global vector g, and senses k, each with a vector s_k and a centroid m_k. Of an occurrence, the words c
within a radius are near, which is drawn from 1 to `window`; frequent words are dropped at random before.

    v    = mean of g(c)               the context
    k    = argmax_k cos(m_k, v)       its sense; NP-MSSG: a new one, if every cosine is below `new_sense_below`
    m_k  = mean of all v that chose k
    s_k predicts each c against random words, by AdaGrad on log sigmoid(s_k . g(c)) + sum log sigmoid(-s_k . g(random))

MSSG's centroids begin random and count as one occurrence; NP-MSSG's words begin without a sense. Only the most frequent
words have several. With one sense for each, this is skip-gram.

Source: Neelakantan et al. 2014; docs/specification-tasks.md, 9.4.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elmo.errors import ConfigError, TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.shapes import Float, Float32, Int
from elmo.static.training.corpus import Corpus, count_words, require_neighbors
from elmo.static.vectors import StaticVectors
from elmo_paper.mssg.compiled import compiled
from elmo_paper.mssg.senses import SenseVectors
from elmo_paper.mssg.settings import MSSGSettings

_POWER = 0.75  # of a word's frequency: how often it is drawn
_DELTA = 0.1  # of AdaGrad: added to the root of the sum of squares
_BLOCK_TOKENS = 1 << 17
_NEVER = -2.0  # no cosine is below


@dataclass(frozen=True)
class Block:
    """Sentences, and what was drawn for them."""

    ids: Int[np.ndarray, " tokens"]
    """int32; -1 ends a sentence."""
    radius: Int[np.ndarray, " tokens"]
    """int32"""
    drawn: Int[np.ndarray, " negatives"]
    """int32: random words, for each pair of a token and one near it, from left to right."""


@dataclass(frozen=True)
class SenseTables:
    """The parameters, in the order in which C takes them. A word's senses are rows one after another."""

    starts: Int[np.ndarray, " words"]
    limits: Int[np.ndarray, " words"]
    """int32: rows of a word"""
    used: Int[np.ndarray, " words"]
    """int32: senses so far"""
    values: Float32[np.ndarray, "words dim"]
    squares: Float32[np.ndarray, "words dim"]
    sense_values: Float32[np.ndarray, "rows dim"]
    sense_squares: Float32[np.ndarray, "rows dim"]
    centroids: Float32[np.ndarray, "rows dim"]
    counts: Float32[np.ndarray, " rows"]
    """float32: exact up to 16 million, beyond which a mean hardly moves."""

    @classmethod
    def begun(cls, num_words: int, settings: MSSGSettings, random: np.random.Generator) -> "SenseTables":
        """Random vectors; MSSG: all senses there are, NP-MSSG: none."""
        limits = np.where(np.arange(num_words) < settings.sense_words, settings.num_senses, 1).astype(np.int32)
        starts = np.cumsum(limits, dtype=np.int64) - limits
        rows, dim = int(limits.sum()), settings.dim
        is_open = settings.new_sense_below is not None

        def drawn(count: int) -> Float32[np.ndarray, "count dim"]:
            return (random.random((count, dim), dtype=np.float32) - 0.5) / dim

        values, senses = drawn(num_words), drawn(rows)
        centroids = np.zeros((rows, dim), np.float32) if is_open else drawn(rows)
        used = np.zeros_like(limits) if is_open else limits.copy()
        counts = np.full(rows, 0 if is_open else 1, np.float32)
        zeros = np.zeros_like(values), np.zeros_like(senses)
        return cls(starts, limits, used, values, zeros[0], senses, zeros[1], centroids, counts)

    def result(self, words: Sequence[str], first_count: float, window: int) -> SenseVectors:
        """Each word's senses, the most frequent first. Those that no occurrence chose are left out, for their vectors
        are the random ones that they began with. `first_count`: what their counts began with. `window`: as trained."""
        owner = np.repeat(np.arange(len(words)), self.limits)
        live = self.counts > first_count
        live[self.starts[np.bincount(owner, live, len(words)) == 0]] = True
        rows = np.flatnonzero(live)
        rows = rows[np.lexsort((-self.counts[rows], owner[rows]))]
        bounds = np.concatenate([[0], np.cumsum(np.bincount(owner[rows]))])
        static = StaticVectors(tuple(words), self.values)
        return SenseVectors(static, self.sense_values[rows], self.centroids[rows], bounds, window)


@dataclass(frozen=True)
class TrainedSenses:
    """The result of a training."""

    senses: SenseVectors
    num_sentences: int
    num_tokens: int
    """Of the words that have vectors."""
    seconds: float


def train_mssg(corpus: Corpus, settings: MSSGSettings, *, progress: Progress | bool = False) -> TrainedSenses:
    """Counts the words, and trains the senses of each that is frequent enough.

    `progress`: receives the bytes that are read; True: bars on stderr. Raises TextError if no word is frequent enough,
    or none has another one in its sentence; ConfigError if the training diverges.
    """
    begun = time.perf_counter()
    corpus.lower_case = settings.lower_case
    with following(progress) as reported:
        counts, num_sentences = count_words(corpus, settings.min_count, settings.max_words, reported)
        require_neighbors(corpus, counts)
        senses = multi_sense(corpus, counts, settings, reported)
    tables = (senses.static.vectors, senses.vectors, senses.centroids)
    if not all(np.isfinite(one).all() for one in tables if one is not None):
        raise ConfigError(
            f"some vectors are not finite: with a learning rate of {settings.learning_rate} the training diverges. "
            "Choose a smaller --learning-rate."
        )
    return TrainedSenses(senses, num_sentences, sum(counts.values()), time.perf_counter() - begun)


def multi_sense(corpus: Corpus, counts: dict[str, int], settings: MSSGSettings, progress: Progress) -> SenseVectors:
    """The vectors of `counts`' words, repeatable on machines with the same instruction sets.

    Raises TextError if so few occurrences are left that none has another one near it.
    """
    random = np.random.default_rng(settings.seed)
    tables = SenseTables.begun(len(counts), settings, random)
    first_count = float(tables.counts[0])
    read = Count(progress, "training", corpus.num_bytes * settings.epochs, "bytes")
    for _ in range(settings.epochs):
        for block in blocks(corpus.sentences(read.add), counts, settings, random):
            step(tables, block, settings)
    if not (tables.counts > first_count).any():
        raise TextError(
            f"{corpus.texts[0]}: with so little text, the occurrences of frequent words that are dropped at random "
            "left no word with a neighbor to learn from. Give more text, or keep all of them with --subsample 0."
        )
    return tables.result(tuple(counts), first_count, settings.window)


def blocks(
    sentences: Iterator[list[str]], counts: dict[str, int], settings: MSSGSettings, random: np.random.Generator
) -> Iterator[Block]:
    """The sentences without words that have no vector or are dropped, many at a time."""
    ids = {word: number for number, word in enumerate(counts)}
    shares = np.array(list(counts.values())) / sum(counts.values())
    rarity = settings.subsample / shares
    chances = np.sqrt(rarity) + rarity if settings.subsample else np.ones(len(shares))
    powers = np.cumsum(shares**_POWER)
    waiting: list[int] = []
    for sentence in sentences:
        waiting += [ids[word] for word in sentence if word in ids]
        waiting.append(-1)
        if len(waiting) >= _BLOCK_TOKENS:
            yield _block(np.array(waiting, np.int32), chances, powers, settings, random)
            waiting = []
    yield _block(np.array(waiting, np.int32), chances, powers, settings, random)


def _block(
    ids: Int[np.ndarray, " tokens"],
    chances: Float[np.ndarray, " words"],
    powers: Float[np.ndarray, " words"],
    settings: MSSGSettings,
    random: np.random.Generator,
) -> Block:
    ids = ids[(ids < 0) | (random.random(len(ids)) < chances[ids])]
    radius = random.integers(1, settings.window + 1, size=len(ids), dtype=np.int32)
    radius = np.minimum(radius, np.int32(len(ids)))
    places, is_end = np.arange(len(ids)), ids < 0
    before = np.maximum.accumulate(np.where(is_end, places, -1))
    after = np.minimum.accumulate(np.where(is_end, places, len(ids))[::-1])[::-1]
    near = np.minimum(radius, places - before - 1) + np.minimum(radius, after - places - 1)
    negatives = int(near[~is_end].sum()) * settings.negatives
    drawn = np.searchsorted(powers, random.random(negatives) * powers[-1], side="right")
    return Block(ids, radius, np.minimum(drawn, len(powers) - 1).astype(np.int32))


def step(tables: SenseTables, block: Block, settings: MSSGSettings) -> None:
    """Trains on a block, token by token: in C where there is a compiler."""
    function = compiled()
    if function is None:
        step_plainly(tables, block, settings)
        return
    sizes = (len(block.ids), settings.dim, settings.negatives)
    below = _NEVER if settings.new_sense_below is None else settings.new_sense_below
    arrays = [*_fields(block), *_fields(tables), np.empty(2 * settings.dim, np.float32)]
    function(*sizes, settings.learning_rate, _DELTA, below, *(array.ctypes.data for array in arrays))


def _fields(one: Block | SenseTables) -> list[np.ndarray]:
    return list(vars(one).values())


def step_plainly(tables: SenseTables, block: Block, settings: MSSGSettings) -> None:
    """The same in numpy, a hundred times slower."""
    drawn = iter(block.drawn.reshape(-1, settings.negatives))
    ids = block.ids.tolist()
    for place, word in enumerate(ids):
        if word >= 0 and (near := _near(ids, place, int(block.radius[place]))):
            context = tables.values[near].mean(axis=0)
            row = int(tables.starts[word]) + _sense(tables, word, context, settings.new_sense_below)
            tables.counts[row] += 1
            tables.centroids[row] += (context - tables.centroids[row]) / tables.counts[row]
            for target in near:
                others = [other for other in next(drawn) if other != target]
                _predict(tables, row, [target, *others], settings.learning_rate)


def _near(ids: list[int], place: int, radius: int) -> list[int]:
    left, right = ids[max(0, place - radius) : place], ids[place + 1 : place + 1 + radius]
    left = left[len(left) - left[::-1].index(-1) :] if -1 in left else left
    return left + (right[: right.index(-1)] if -1 in right else right)


def _sense(tables: SenseTables, word: int, context: Float32[np.ndarray, " dim"], new_below: float | None) -> int:
    used = int(tables.used[word])
    centroids = tables.centroids[tables.starts[word] : tables.starts[word] + used]
    lengths = np.linalg.norm(centroids, axis=1) * np.linalg.norm(context)
    cosines = np.divide(centroids @ context, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    is_new = used == 0 or (new_below is not None and cosines.max() < new_below and used < tables.limits[word])
    tables.used[word] += is_new
    return used if is_new else int(cosines.argmax())


def _predict(tables: SenseTables, row: int, targets: list[int], rate: float) -> None:
    """One pair: the first target is the true one."""
    own, slope_of_own = tables.sense_values[row].copy(), np.zeros_like(tables.sense_values[row])
    for number, target in enumerate(targets):
        error = (number == 0) - 1 / (1 + np.exp(-(own @ tables.values[target])))
        slope_of_own += error * tables.values[target]
        _ascend(tables.values[target], tables.squares[target], error * own, rate)
    _ascend(tables.sense_values[row], tables.sense_squares[row], slope_of_own, rate)


def _ascend(
    value: Float32[np.ndarray, " dim"],
    squares: Float32[np.ndarray, " dim"],
    slope: Float[np.ndarray, " dim"],
    rate: float,
) -> None:
    squares += slope**2
    value += rate * slope / (_DELTA + np.sqrt(squares))
