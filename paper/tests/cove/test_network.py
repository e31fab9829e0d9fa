"""The translation system against the original's arrays, and batches of sentences against single ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from elmo_paper.cove.network import BEGINNING_ID, END_ID, PADDING_ID, UNKNOWN_ID, Read, Sizes, Translator

CASES = ["no_padding", "padded", "other_depth"]
NAMES = {
    "encoder.rnn.": "encoder.",
    "decoder.word_lut.": "embedding.",
    "decoder.rnn.layers.": "decoder.",
    "decoder.attn.linear_in.": "attention_in.",
    "decoder.attn.linear_out.": "attention_out.",
    "generator.0.": "generator.",
}

GOLDEN = Path(__file__).with_name("golden")


def arrays(file: Path) -> dict[str, np.ndarray]:
    with np.load(file) as found:
        return dict(found)


def ours(theirs: dict[str, np.ndarray], prefix: str) -> dict[str, Tensor]:
    """The original's parameters by our names; the source embeddings, which aren't the network's, are left out."""
    found = {}
    for name, array in theirs.items():
        for begin, instead in NAMES.items():
            if name.startswith(prefix + begin):
                found[instead + name.removeprefix(prefix + begin).removesuffix("_f64")] = torch.tensor(array)
    return found


class Case:
    """A golden file, and its network in one precision; batches first."""

    def __init__(self, golden: dict[str, np.ndarray], dtype: torch.dtype) -> None:
        parameters = ours(golden, "weight.")
        num_words, word_dim = parameters["embedding.weight"].shape
        num_layers = sum(name.startswith("decoder.") and name.endswith("weight_ih") for name in parameters)
        cells = parameters["attention_in.weight"].shape[0] // 2
        self.network = Translator(Sizes(word_dim, cells, num_words, num_layers)).to(dtype)
        self.network.load_state_dict(parameters)
        vectors = torch.tensor(golden["weight.encoder.word_lut.weight"], dtype=dtype)
        self.vectors = vectors[torch.tensor(golden["source"].T)]
        self.lengths = torch.tensor(golden["source_lengths"])
        self.words = torch.tensor(golden["target"].T.copy())
        self.read = self.network.read(self.vectors, self.lengths)

    def unmasked(self) -> Read:
        """What the authors' training attended to: padding too, whose vectors are zero."""
        return replace(self.read, mask=torch.ones_like(self.read.mask))


@pytest.mark.parametrize(("dtype", "end", "bound"), [(torch.float64, "f64", 1e-9), (torch.float32, "f32", 1e-5)])
@pytest.mark.parametrize("name", CASES)
def test_every_step_is_the_originals(name, dtype, end, bound):
    golden = arrays(GOLDEN / f"{name}.npz")
    case = Case(golden, dtype)
    given = case.words[:, :-1]

    def close(found: Tensor, array: str) -> bool:
        expected = np.moveaxis(golden[f"{array}_{end}"], 1, 0)
        return found.shape == expected.shape and np.abs(found.detach().numpy() - expected).max() < bound

    assert close(case.read.context, "context")
    for layer, states in enumerate(zip(*case.read.state, strict=True)):  # all h, then all c
        expected = golden[f"decoder_initial_{'hc'[layer]}_{end}"]
        assert np.abs(torch.stack(states).detach().numpy() - expected).max() < bound
    for read, ending in ((case.unmasked(), ""), (case.read, "_masked")):
        attended, weights = case.network(read, given)
        assert close(attended, f"decoder_output{ending}")
        assert close(case.network.generator(attended).log_softmax(dim=-1), f"log_probabilities{ending}")
        assert close(weights, f"attention{ending}")
        loss = golden[f"loss{ending}_{end}"]
        assert case.network.loss(read, case.words).item() == pytest.approx(float(loss), abs=bound * 10, rel=bound)


def test_gradients_are_the_originals():
    folder = GOLDEN
    case = Case(arrays(folder / "padded.npz"), torch.float64)
    (case.network.loss(case.unmasked(), case.words) / len(case.words)).backward()
    expected = ours(arrays(folder / "padded_gradients.npz"), "grad.")
    assert expected.keys() == dict(case.network.named_parameters()).keys()
    for name, parameter in case.network.named_parameters():
        assert (parameter.grad - expected[name]).abs().max() < 1e-9, name


@pytest.fixture
def network() -> Translator:
    torch.manual_seed(4)
    network = Translator(Sizes(word_dim=5, cells=3, num_words=11)).double()
    for parameter in network.parameters():  # large enough that each sentence has another attention
        torch.nn.init.uniform_(parameter, -1, 1)
    return network.eval()


LENGTHS = [1, 6, 3, 6]
WORDS = [[2, 4, 5, 3], [2, 3], [2, 9, 1, 4, 4, 10, 3], [2, 7, 8, 3]]


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Source vectors with large numbers at padding, lengths, and padded target words."""
    torch.manual_seed(7)
    vectors = torch.randn(4, 6, 5, dtype=torch.float64)
    for row, length in zip(vectors, LENGTHS, strict=True):
        row[length:] = 1e3
    words = torch.full((4, 7), PADDING_ID)
    for row, sentence in zip(words, WORDS, strict=True):
        row[: len(sentence)] = torch.tensor(sentence)
    return vectors, torch.tensor(LENGTHS), words


def nats_of_one(network: Translator, vectors: Tensor, words: list[int]) -> Tensor:
    """-log p of a sentence's words but the first."""
    return network.loss(network.read(vectors[None], torch.tensor([len(vectors)])), torch.tensor([words]))


def test_a_padded_batch_is_a_loop_over_sentences(network):
    vectors, lengths, words = batch()
    found = network.loss(network.read(vectors, lengths), words)
    sentences = zip(vectors, LENGTHS, WORDS, strict=True)
    expected = sum(nats_of_one(network, row[:length], sentence) for row, length, sentence in sentences)
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    gradients = [torch.autograd.grad(one, list(network.parameters())) for one in (found, expected)]
    for one, other in zip(*gradients, strict=True):
        assert (one - other).abs().max() < 1e-10
        assert other.abs().max() > 1e-6


def test_a_translation_takes_the_likeliest_word_until_the_end_or_the_limit(network):
    with torch.no_grad():
        network.generator.bias[END_ID] += 1.5  # so that some end before the limit
    vectors, lengths, _ = batch()
    found = network.translate(network.read(vectors, lengths), 9)
    for row, (length, words) in enumerate(zip(LENGTHS, found, strict=True)):
        assert not {PADDING_ID, UNKNOWN_ID, BEGINNING_ID, END_ID} & set(words)
        begun = [BEGINNING_ID]
        for word in [*words, END_ID][:9]:
            nats = {
                allowed: nats_of_one(network, vectors[row, :length], [*begun, allowed]).item()
                for allowed in range(END_ID, network.sizes.num_words)
            }
            assert word == min(nats, key=nats.get)
            begun.append(word)
    assert min(map(len, found)) < 9


def test_dropout_acts_in_training_alone(network):
    vectors, lengths, words = batch()
    dropping = Translator(network.sizes, dropout=0.5).double()
    dropping.load_state_dict(network.state_dict())
    losses = [one.loss(one.read(vectors, lengths), words).item() for one in (network, dropping.eval())]
    assert losses[0] == losses[1]
    dropping.train()
    drawn = {dropping.loss(dropping.read(vectors, lengths), words).item() for _ in range(3)}
    assert len(drawn) == 3 and losses[0] not in drawn


def test_new_parameters_are_uniform_between_minus_and_plus_a_tenth():
    found = torch.cat([parameter.flatten() for parameter in Translator(Sizes(20, 20, 100)).parameters()])
    assert found.abs().max() <= 0.1
    assert found.std().item() == pytest.approx(0.2 / 12**0.5, rel=0.02)
