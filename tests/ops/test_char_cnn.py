"""The char CNN: windows of trimmed rows give the maxima of elmo.reference, and their gradients."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from elmo import reference
from elmo.ops.char_cnn import activate, best_windows, character_vectors
from elmo.text.characters import CharacterMap

WIDTHS = ((1, 8), (2, 8), (3, 16), (5, 16), (7, 24))


def random_filters(dim=16, dtype=torch.float32, whole_numbers=False):
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        values = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (values * 3).round().to(dtype) if whole_numbers else values.to(dtype)

    embedding = normal(262, dim)
    embedding[0] = 0
    return embedding, [(normal(number, dim, width), normal(number)) for width, number in WIDTHS]


def random_words(count, longest, seed=0):
    """Words of 0 to `longest` bytes, of any bytes that are one character each."""
    chance = np.random.default_rng(seed)
    return ["".join(map(chr, chance.integers(0, 128, size=chance.integers(0, longest + 1)))) for _ in range(count)]


def ids_of(words, characters_per_token=50):
    return torch.from_numpy(CharacterMap.for_bytes(characters_per_token).ids(words)).int()


def char_cnn_trimmed(character_ids, embedding, filters, activation):
    """As the network puts it together."""
    characters = character_vectors(character_ids, embedding, max(weight.shape[2] for weight, _ in filters))
    best = [best_windows(characters, weight) + bias for weight, bias in filters]
    return activate(torch.cat(best, dim=1), activation)


def plainly(ids, embedding, filters, activation):
    """The reference, a token at a time."""
    pairs = [(weight.numpy(), bias.numpy()) for weight, bias in filters]
    rows = [reference.char_cnn(row, embedding.numpy(), pairs, activation) for row in ids.numpy()]
    return torch.from_numpy(np.stack(rows))


@pytest.mark.parametrize("with_gradients", [True, False])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("longest", [0, 1, 12, 43, 60])
def test_trimming_leaves_every_maximum_the_same(activation, longest, with_gradients):
    """With whole numbers no sum rounds, so that equal means the same bits: 2,000 words for each activation."""
    embedding, filters = random_filters(whole_numbers=True)
    for chunk in ids_of(random_words(400, longest, seed=longest)).split(100):
        with torch.set_grad_enabled(with_gradients):
            found = char_cnn_trimmed(chunk, embedding, filters, activation)
        # numpy's tanh and torch's may differ in the last digit.
        expected = plainly(chunk, embedding, filters, activation)
        torch.testing.assert_close(found, expected, rtol=0, atol=0 if activation == "relu" else 2e-7)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
def test_gradients_of_trimmed_equal_those_of_whole_convolutions(dtype, tolerance):
    embedding, filters = random_filters(dtype=dtype, dim=3)
    ids, gradients = ids_of(random_words(30, 20)), []

    def whole(ids, embedding, filters, _):
        vectors = embedding[ids.long()].transpose(1, 2)
        return torch.cat([functional.conv1d(vectors, *pair).amax(dim=2) for pair in filters], dim=1).tanh()

    for version in (whole, char_cnn_trimmed):
        tensors = [tensor.clone().requires_grad_() for tensor in (embedding, *(t for pair in filters for t in pair))]
        pairs = list(zip(tensors[1::2], tensors[2::2], strict=True))
        found = version(ids, tensors[0], pairs, "tanh")
        (found * torch.arange(found.shape[1])).sum().backward()
        gradients.append([tensor.grad for tensor in tensors])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * other.abs().max().item())


def test_rows_of_no_token_are_allowed():
    embedding, filters = random_filters(whole_numbers=True)
    ids = ids_of(["word", "x"])
    ids[1] = 0
    expected = plainly(ids, embedding, filters, "relu")
    assert torch.equal(char_cnn_trimmed(ids, embedding, filters, "relu"), expected)
    assert torch.equal(expected[1], torch.cat([bias for _, bias in filters]).relu())


def test_a_filter_as_wide_as_the_row_has_one_window():
    embedding, _ = random_filters(whole_numbers=True, dim=2)
    filters = [(torch.arange(12.0).view(1, 2, 6), torch.tensor([1.0]))]
    ids = ids_of(["abcdefgh", "a"], characters_per_token=6)
    windows = embedding[ids.long()].transpose(1, 2)
    expected = (windows * filters[0][0]).sum(dim=(1, 2))[:, None] + 1
    assert torch.equal(char_cnn_trimmed(ids, embedding, filters, "relu"), expected.relu())


def test_the_maximum_is_taken_before_the_activation_and_over_padding_too():
    embedding = torch.zeros(262, 1)
    embedding[261] = 5.0  # padding has the largest value of all
    filters = [(torch.ones(1, 1, 1), torch.tensor([-1.0]))]
    for version in (plainly, char_cnn_trimmed):
        assert version(ids_of(["ab"]), embedding, filters, "tanh").item() == pytest.approx(np.tanh(4.0))
        assert version(ids_of(["x" * 48]), embedding, filters, "relu").item() == 0
