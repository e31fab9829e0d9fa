"""Streams: the specification's worked example, completeness, separate shuffling, exact positions, shared rows."""

from collections import Counter

import numpy as np
import pytest

from elmo.corpus.shards import Shard
from elmo.pretrain.step.stream import SentenceReader, Stream, StreamPosition

S, E, A, B, C, D = 0, 1, 2, 3, 4, 5
_IN_ORDER = 0  # a seed by which both sentences of `_shard` come in the order of the text, in both directions


def _following(reader: SentenceReader) -> tuple[int, int]:
    """(shard, sentence) of the next sentence."""
    shard, sentence = reader.take(1)[0].tolist()
    return shard, sentence


def _shard() -> Shard:
    return Shard(np.array([A, B, C, D], dtype=np.uint32), np.array([0, 3, 4], dtype=np.int64))


def _windows(backward: bool, count: int) -> list[tuple[list[int], list[int]]]:
    stream = Stream(SentenceReader([_shard()], backward, _IN_ORDER), batch_size=1, unroll_steps=3)
    windows = [stream.next() for _ in range(count)]
    return [(window.inputs[:, 0].tolist(), window.targets[:, 0].tolist()) for window in windows]


def test_windows_equal_the_worked_example() -> None:
    assert _windows(False, 2) == [([S, A, B], [A, B, C]), ([C, S, D], [E, D, E])]
    assert _windows(True, 2) == [([E, C, B], [C, B, A]), ([A, E, D], [S, D, S])]


def test_rows_pull_sentences_from_one_shared_reader():
    stream = Stream(SentenceReader([_shard()], False, _IN_ORDER), batch_size=2, unroll_steps=2)
    window = stream.next()
    assert window.inputs.T.tolist() == [[S, A], [S, D]]
    assert window.targets.T.tolist() == [[A, B], [D, E]]


def test_order_differs_between_directions_and_epochs_and_repeats_with_the_seed(data):
    def order(backward: bool, seed: int, epochs: int = 2) -> list[tuple[int, int]]:
        reader = SentenceReader(data.shards("train"), backward, seed)
        return [_following(reader) for _ in range(epochs * data.num_sentences("train"))]

    count = data.num_sentences("train")
    assert order(False, 1) == order(False, 1)
    assert order(False, 1) != order(True, 1)
    assert order(False, 1) != order(False, 2)
    assert order(False, 1)[:count] != order(False, 1)[count:]


class PlainStream:
    """The specification's words, row by row: what `Stream` does for all rows at once."""

    def __init__(self, reader: SentenceReader, batch_size: int, unroll_steps: int) -> None:
        self.reader = reader
        self.unroll_steps = unroll_steps
        self.rows: list[tuple[int, int, int] | None] = [None] * batch_size
        self.tokens: list[list[int]] = [[]] * batch_size

    def next(self) -> tuple[list[list[int]], list[list[int]]]:
        """(batch, tokens) inputs and targets."""
        read = [self._row(row) for row in range(len(self.rows))]
        return [inputs for inputs, _ in read], [targets for _, targets in read]

    def _row(self, row: int) -> tuple[list[int], list[int]]:
        inputs, targets = [], []
        for _ in range(self.unroll_steps):
            current = self.rows[row]
            if current is None or current[2] == len(self.tokens[row]) - 1:
                current = (*_following(self.reader), 0)
                words = self.reader.shards[current[0]].sentence(current[1]).tolist()
                self.tokens[row] = [E, *words[::-1], S] if self.reader.backward else [S, *words, E]
            shard, sentence, used = current
            inputs.append(self.tokens[row][used])
            targets.append(self.tokens[row][used + 1])
            self.rows[row] = (shard, sentence, used + 1)
        return inputs, targets


def _shards(sizes: list[int], longest: int = 11) -> list[Shard]:
    """Shards of sentences of some tokens; every token of the corpus is a type of its own."""
    generator, shards, first = np.random.default_rng(0), [], 2
    for size in sizes:
        offsets = np.concatenate([[0], np.cumsum(generator.integers(1, longest + 1, size))])
        shards.append(Shard(np.arange(first, first + offsets[-1], dtype=np.uint32), offsets))
        first += int(offsets[-1])
    return shards


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("sizes", "rows", "steps"),
    [([5, 3], 3, 4), ([2], 7, 5), ([20, 30, 9], 4, 50), ([1], 2, 7), ([30, 1, 60], 16, 20), ([4], 1, 1)],
)
def test_all_rows_at_once_are_what_row_by_row_is(sizes, rows, steps, backward):
    shards = _shards(sizes)
    plain = PlainStream(SentenceReader(shards, backward, seed=3), rows, steps)
    stream = Stream(SentenceReader(shards, backward, seed=3), rows, steps)
    for _ in range(30):
        (inputs, targets), window = plain.next(), stream.next()
        assert window.inputs.T.tolist() == inputs
        assert window.targets.T.tolist() == targets
        assert stream.position.to_dict() == {
            "epoch": plain.reader.epoch, "position": plain.reader.position, "rows": plain.rows
        }  # fmt: skip


def _blocks(count: int, rows: int) -> list[slice]:
    return [slice(rank * rows // count, (rank + 1) * rows // count) for rank in range(count)]


@pytest.mark.parametrize("backward", [False, True])
def test_resized_streams_see_every_token_exactly_once_an_epoch(backward):
    shards, rows, steps, epochs = _shards([40, 25]), 7, 6, 3
    seen: Counter[int] = Counter()
    state, sizes = None, iter((2, 1, 4, 2, 7, 3, 1, 5) * 100)
    while state is None or state["epoch"] < epochs:  # now and then another number of processes, blocks of unlike size
        streams = [
            Stream(SentenceReader(shards, backward, seed=1), rows, steps, own) for own in _blocks(next(sizes), rows)
        ]
        for stream in streams:
            if state is not None:
                stream.seek(StreamPosition.from_dict(state))
        for _ in range(3):
            windows = [stream.next() for stream in streams]
            seen.update(np.concatenate([window.targets for window in windows], axis=1).flatten().tolist())
        state = streams[0].position.to_dict()
        assert all(stream.position.to_dict() == state for stream in streams)
    # What rows hold of the sentences they have begun is still to be seen; all else of whole epochs, and of the last
    # one's beginning, was seen once each time.
    reader = SentenceReader(shards, backward, seed=1)
    expected: Counter[int] = Counter()
    pulled = epochs * sum(shard.num_sentences for shard in shards) + state["position"]
    for shard, sentence in (_following(reader) for _ in range(pulled)):
        expected.update(shards[shard].sentence(sentence).tolist())
    for shard, sentence, used in state["rows"]:
        words = shards[shard].sentence(sentence).tolist()
        expected.subtract((words[::-1] if backward else words)[used:])
    assert {token: count for token, count in seen.items() if token > 1} == dict(expected)


def test_a_process_makes_the_tokens_of_its_own_rows(data):
    def make(own: slice | None) -> Stream:
        return Stream(SentenceReader(data.shards("train"), False, seed=5), 5, 4, own)

    whole, parts = make(None), [make(own) for own in _blocks(3, 5)]
    for _ in range(12):
        expected, found = whole.next(), [part.next() for part in parts]
        assert [window.inputs.shape[1] for window in found] == [1, 2, 2]
        assert np.array_equal(np.concatenate([window.inputs for window in found], axis=1), expected.inputs)
        assert np.array_equal(np.concatenate([window.targets for window in found], axis=1), expected.targets)
