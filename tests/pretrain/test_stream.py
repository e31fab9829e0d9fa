"""Streams: the specification's worked example, completeness, separate shuffling, exact positions."""

import numpy as np

from elmo.pretrain.shards import Shard, TrainingData
from elmo.pretrain.stream import SentenceReader, Stream

S, E, A, B, C, D = 0, 1, 2, 3, 4, 5


def _shard() -> Shard:
    return Shard(np.array([A, B, C, D], dtype=np.uint32), np.array([0, 3, 4], dtype=np.int64))


def _windows(backward: bool, count: int) -> list[tuple[list[int], list[int]]]:
    stream = Stream(SentenceReader([_shard()], backward, seed=0, shuffle=False), batch_size=1, unroll_steps=3)
    windows = [stream.next() for _ in range(count)]
    return [(window.inputs[:, 0].tolist(), window.targets[:, 0].tolist()) for window in windows]


def test_forward_windows_equal_the_worked_example() -> None:
    assert _windows(False, 2) == [([S, A, B], [A, B, C]), ([C, S, D], [E, D, E])]


def test_backward_windows_equal_the_worked_example() -> None:
    assert _windows(True, 2) == [([E, C, B], [C, B, A]), ([A, E, D], [S, D, S])]


def test_rows_pull_sentences_from_one_shared_reader() -> None:
    stream = Stream(SentenceReader([_shard()], False, seed=0, shuffle=False), batch_size=2, unroll_steps=2)
    window = stream.next()
    assert window.inputs.T.tolist() == [[S, A], [S, D]]
    assert window.targets.T.tolist() == [[A, B], [D, E]]


def test_every_token_is_seen_once_an_epoch(data: TrainingData) -> None:
    for backward in (False, True):
        reader = SentenceReader(data.shards("train"), backward, seed=3)
        seen = [reader.next() for _ in range(data.num_sentences("train"))]
        assert len(set(seen)) == data.num_sentences("train")
        assert reader.epoch == 0
        reader.next()
        assert reader.epoch == 1


def test_order_differs_between_directions_and_epochs_and_repeats_with_the_seed(data: TrainingData) -> None:
    def order(backward: bool, seed: int, epochs: int = 2) -> list[tuple[int, int]]:
        reader = SentenceReader(data.shards("train"), backward, seed)
        return [reader.next() for _ in range(epochs * data.num_sentences("train"))]

    count = data.num_sentences("train")
    assert order(False, 1) == order(False, 1)
    assert order(False, 1) != order(True, 1)
    assert order(False, 1) != order(False, 2)
    assert order(False, 1)[:count] != order(False, 1)[count:]


def test_a_stream_goes_on_exactly_where_it_was_saved(data: TrainingData) -> None:
    def make() -> Stream:
        return Stream(SentenceReader(data.shards("train"), False, seed=5), batch_size=3, unroll_steps=4)

    stream = make()
    for _ in range(7):
        stream.next()
    other = make()
    other.load_state_dict(stream.state_dict())
    for _ in range(9):
        expected, found = stream.next(), other.next()
        assert np.array_equal(expected.inputs, found.inputs)
        assert np.array_equal(expected.targets, found.targets)


def test_forward_inputs_never_hold_the_end_and_targets_never_the_begin(data: TrainingData) -> None:
    for backward, never_read, never_predicted in ((False, E, S), (True, S, E)):
        stream = Stream(SentenceReader(data.shards("train"), backward, seed=5), batch_size=3, unroll_steps=4)
        for _ in range(20):
            window = stream.next()
            assert never_read not in window.inputs
            assert never_predicted not in window.targets
