"""Online code length against a plain loop, and at its two ends: vectors that say everything, and nothing."""

import numpy as np
import pytest

from elmo_paper.analysis.probes import online_code as module
from elmo_paper.analysis.probes.linear_probe import Split, fit
from elmo_paper.analysis.probes.online_code import online_code

pytest.importorskip("scipy")


def tagged(sentences: int, informative: bool, seed: int = 0) -> tuple[Split, np.ndarray]:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, size=sentences)
    tags = random.integers(4, size=lengths.sum())
    vectors = random.normal(size=(len(tags), 6)).astype(np.float32)
    if informative:
        vectors[np.arange(len(tags)), tags] += 8
    return Split(vectors, tags), lengths


def test_a_code_is_short_for_vectors_that_hold_the_tags_and_uniform_for_those_that_do_not():
    clear, lengths = tagged(400, informative=True)
    noise, _ = tagged(400, informative=False)
    assert online_code(clear, lengths, num_tags=4).compression > 8
    found = online_code(noise, lengths, num_tags=4)
    assert found.uniform_bits == pytest.approx(2 * lengths.sum())
    assert 0.85 < found.compression <= 1.02


def test_a_code_equals_a_plain_loop():
    split, lengths = tagged(60, informative=True, seed=3)
    order = np.random.default_rng(0).permutation(60)
    starts = np.cumsum(lengths) - lengths
    sentences = [list(range(starts[one], starts[one] + lengths[one])) for one in order]
    total = lengths.sum()
    cuts = []
    for percent in module.CUTS:  # the first sentence with which the share is reached
        running, count = 0, 0
        while running < percent / 100 * total:
            running += len(sentences[count])
            count += 1
        cuts.append(count)
    cuts = sorted(set(cuts))
    bits = 2.0 * sum(map(len, sentences[: cuts[0]]))
    for seen, sent in zip(cuts, cuts[1:], strict=False):
        fitted = seen - max(1, seen // 10)
        train = [token for one in sentences[:fitted] for token in one]
        dev = [token for one in sentences[fitted:seen] for token in one]
        part = [token for one in sentences[seen:sent] for token in one]
        if len(set(split.tags[train])) < 2:
            bits += 2.0 * len(part)
            continue
        probe = fit(Split(split.vectors[train], split.tags[train]), Split(split.vectors[dev], split.tags[dev]))
        for token in part:
            own = probe.probabilities(Split(split.vectors[[token]], split.tags[[token]]))[0]
            bits -= np.log2((len(train) * own + 1 / 4) / (len(train) + 1))
    assert online_code(split, lengths, num_tags=4).bits == pytest.approx(bits, rel=1e-6)


def test_a_tag_that_comes_late_has_a_finite_code():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(300, 3)).astype(np.float32)
    tags = np.repeat([0, 1, 2], [299, 0, 1])
    tags[::2] = 1
    tags[151] = 2
    found = online_code(Split(vectors, tags), np.ones(300, dtype=np.int64), num_tags=3)
    assert np.isfinite(found.bits) and found.bits < found.uniform_bits * 1.2
