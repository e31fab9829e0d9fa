"""Which row reads which sentence when: every token once, in order, without gaps."""

import numpy as np
import pytest

from elmo.engine.row_packing import num_rows, pack, schedule

LENGTHS = [[], [0, 0], [5], [7, 7, 7], [9, 4, 3, 3, 1, 1, 0], [30, *[6] * 40, *[1] * 20], [3] * 500]


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: f"{len(lengths)} sentences")
def test_there_are_no_more_steps_than_the_longest_sentence_needs(lengths):
    lengths = np.array(lengths, np.int64)
    rows = num_rows(lengths)
    assert rows <= min(120, np.count_nonzero(lengths))
    if rows < 120:
        there = lengths[lengths > 0]
        packing = pack(there, rows)
        steps = max((packing.begins + there).tolist(), default=0)
        assert steps <= max(lengths.tolist(), default=0) * 4 / 3  # the bound of filling the emptiest row first


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("lengths", LENGTHS[2:], ids=lambda lengths: f"{len(lengths)} sentences")
def test_every_token_is_read_once_and_in_order(lengths, rows, backward):
    lengths = np.array(lengths, np.int64)
    rows = min(rows, int(np.count_nonzero(lengths)))
    tokens = int(lengths.max()) + 2
    sentences = np.arange(len(lengths))[::-1].copy()  # in another order in the batch
    steps = schedule(sentences * tokens, lengths, backward=backward, rows=rows)
    alive, places, turns = steps.alive, steps.places, steps.turns
    assert (np.diff(alive) <= 0).all()
    assert alive[0] == rows
    assert len(np.unique(places)) == len(places) == lengths.sum() == alive.sum()
    starts = np.concatenate([[0], np.cumsum(alive)])
    for row in range(rows):
        read = [starts[step] + row for step in range(len(alive)) if row < alive[step]]
        found = _sentences_of(read, places, turns, tokens)
        for sentence, within in found:
            whole = list(range(lengths[list(sentences).index(sentence)]))
            assert within == (whole[::-1] if backward else whole)


def _sentences_of(read, places, turns, tokens):
    """(sentence, its tokens in the order in which they are read), by the row's own begins and ends."""
    if turns is None:
        return [(places[read[0]] // tokens, [places[at] % tokens for at in read])]
    found, now = [], []
    for at in read:
        if turns.begins[at] >= 0:
            assert not now
        now.append(at)
        if turns.ends[at] >= 0:
            assert turns.begins[now[0]] == turns.ends[at]
            assert len({places[one] // tokens for one in now}) == 1
            found.append((places[now[0]] // tokens, [places[one] % tokens for one in now]))
            now = []
    assert not now
    return found
