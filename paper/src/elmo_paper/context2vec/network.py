"""The network of context2vec, and the encoder that reads sentences with it.

Source: Melamud et al. 2016, section 3; docs/specification-tasks.md, 9.2.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from elmo.embed.encoder import in_equal_lengths
from elmo.process.device import chosen_device
from elmo.process.torch_settings import usual_torch
from elmo.shapes import Float, Int
from elmo.text.reading.as_trained import composed_words
from elmo.weights.fingerprint import fingerprint
from elmo_paper.context2vec.files import Context2VecModel, Sizes, read

UNKNOWN_ID, BEGINNING_ID, END_ID = range(3)


class Context2Vec(nn.Module):
    """Sentences of equal length -> the vector of each place's context."""

    def __init__(self, sizes: Sizes) -> None:
        """A new network; `from_model` gives one that was read from files."""
        super().__init__()
        unit, cells = sizes.unit, 2 * sizes.unit
        self.sizes = sizes
        self.left_embedding = nn.Embedding(sizes.num_words, unit)
        self.right_embedding = nn.Embedding(sizes.num_words, unit)
        self.left_lstm = nn.LSTM(unit, cells, batch_first=True)
        self.right_lstm = nn.LSTM(unit, cells, batch_first=True)
        if sizes.is_deep:
            self.hidden, self.output = nn.Linear(2 * cells, 2 * cells), nn.Linear(2 * cells, cells)
        else:
            self.left_output, self.right_output = nn.Linear(cells, unit), nn.Linear(cells, unit)
        self.targets = nn.Embedding(sizes.num_words, cells)
        self._initialize()

    @classmethod
    def from_model(cls, model: Context2VecModel) -> "Context2Vec":
        """The network of a file."""
        network = cls(model.sizes)
        network.load_state_dict({name: torch.tensor(array) for name, array in model.tensors.items()})
        return network

    def forward(self, word_ids: Int[Tensor, "batch tokens"]) -> Float[Tensor, "batch tokens dim"]:
        """The context of each token, which depends on all other tokens of its sentence and not on the token itself."""
        left, right = self._read(word_ids)
        if self.sizes.is_deep:
            return self.output(torch.relu(self.hidden(torch.cat([left, right], dim=-1))))
        return torch.cat([self.left_output(left), self.right_output(right)], dim=-1)

    def _read(
        self, word_ids: Int[Tensor, "batch tokens"]
    ) -> tuple[Float[Tensor, "batch tokens cells"], Float[Tensor, "batch tokens cells"]]:
        """The states before each token: of the words to its left, and of those to its right."""
        begun, ended = (word_ids.new_full((len(word_ids), 1), word) for word in (BEGINNING_ID, END_ID))
        leftward = torch.cat([begun, word_ids[:, :-1]], dim=1)
        rightward = torch.cat([ended, word_ids[:, 1:].flip(1)], dim=1)
        left, _ = self.left_lstm(self.left_embedding(leftward))
        right, _ = self.right_lstm(self.right_embedding(rightward))
        return left, right.flip(1)

    def _initialize(self) -> None:
        """As the original: embeddings with a deviation of one over the root of the number of *words*, forget biases of
        1, target vectors of zeros. An LSTM has one bias, so that the second one of PyTorch's stays zero."""
        for embedding in (self.left_embedding, self.right_embedding):
            nn.init.normal_(embedding.weight, 0, math.sqrt(1 / self.sizes.num_words))
        for lstm in (self.left_lstm, self.right_lstm):
            forget = slice(lstm.hidden_size, 2 * lstm.hidden_size)
            for name, parameter in lstm.named_parameters():
                if "weight" in name:
                    nn.init.normal_(parameter, 0, math.sqrt(1 / parameter.shape[1]))
                else:
                    nn.init.zeros_(parameter)
            nn.init.ones_(lstm.get_parameter("bias_ih_l0")[forget])
            lstm.get_parameter("bias_hh_l0").requires_grad_(False)
        for layer in (module for module in self.modules() if isinstance(module, nn.Linear)):
            nn.init.normal_(layer.weight, 0, math.sqrt(1 / layer.in_features))
            nn.init.zeros_(layer.bias)
        nn.init.zeros_(self.targets.weight)


def negative_sampling_loss(
    network: Context2Vec,
    word_ids: Int[Tensor, "batch tokens"],
    negatives: Int[Tensor, "batch tokens samples"],
) -> Float[Tensor, ""]:
    """The sum over all tokens of -log s(c . t) - sum over negatives of log s(-c . n).

    c is the token's context, t the target vector of the token, n those of random words, s the logistic function.
    """
    contexts = network(word_ids)
    rows = network.targets(torch.cat([word_ids[..., None], negatives], dim=-1))
    products = torch.einsum("btd,btsd->bts", contexts, rows)
    signs = products.new_ones(products.shape[-1])
    signs[0] = -1
    return nn.functional.softplus(products * signs).sum()


class Context2VecEncoder:
    """A model of context2vec as an encoder of one layer, for analyses and tasks: the vector of a token's context.

    A token is looked up as it is written, then lower-cased.

    May be called from any thread.
    """

    num_layers, keep_boundaries = 1, False

    def __init__(self, model: Context2VecModel, *, device: str = "cpu") -> None:
        self.words = composed_words(model.words)
        self.device = chosen_device(device)
        with usual_torch():
            network = Context2Vec.from_model(model).eval().requires_grad_(False)
            self.network = network.to(self.device, torch.float32)
        self._rows = {word: row for row, word in enumerate(self.words)}
        self.model_hash = fingerprint(model.tensors, self.words)
        """SHA-256 over the weights and the words."""

    @classmethod
    def load(cls, path: Path | str, *, device: str = "cpu") -> "Context2VecEncoder":
        """A model by its NAME.params, or by the folder that `elmo-paper context2vec` made. Raises WeightFileError."""
        return cls(read(path), device=device)

    @property
    def layer_dim(self) -> int:
        """Dimensions of a context."""
        return 2 * self.network.sizes.unit

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "1 tokens dim"]]:
        """Float32 (1, tokens, dim) for each sentence, in order."""
        return in_equal_lengths(sentences, self._contexts, num_layers=1, layer_dim=self.layer_dim)

    @usual_torch()
    @torch.no_grad()
    def _contexts(self, sentences: Sequence[Sequence[str]]) -> Float[np.ndarray, "batch 1 tokens dim"]:
        ids = torch.tensor([self._ids(sentence) for sentence in sentences], device=self.device)
        return self.network(ids)[:, None].cpu().numpy()

    def _ids(self, sentence: Sequence[str]) -> list[int]:
        return [self._rows.get(word, self._rows.get(word.lower(), UNKNOWN_ID)) for word in sentence]
