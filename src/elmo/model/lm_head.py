"""LMHead: the softmax over the vocabulary that makes a language model of each direction.

Source: bilm-tf `bilm/training.py`. One weight matrix serves both directions.
"""

import math
from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.errors import WeightFileError
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint


class LMHead(nn.Module):
    """Outputs of one direction -> log-probabilities of the next word in that direction."""

    def __init__(self, vocabulary: list[str], projection_size: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.weight = nn.Parameter(torch.empty(len(vocabulary), projection_size))
        self.bias = nn.Parameter(torch.zeros(len(vocabulary)))
        nn.init.normal_(self.weight, 0, 1 / math.sqrt(projection_size))

    @classmethod
    def from_pretrained(cls, model: hub.Model = None) -> "LMHead":
        """Load a model's softmax; `model` as in `BiLM.from_pretrained`."""
        files = hub.resolve(model)
        return cls.from_checkpoint(formats.read(files), str(files))

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, name: str = "this model") -> "LMHead":
        """The softmax of a checkpoint; many published models came without one."""
        if checkpoint.softmax is None or checkpoint.vocabulary is None:
            raise WeightFileError(
                f"{name} has no softmax over a vocabulary, so it can't predict words. Published weights often leave "
                "it out. Add softmax.safetensors and vocab.txt, or use a model pretrained with 'elmo pretrain'."
            )
        head = cls(checkpoint.vocabulary, checkpoint.config.projection_size)
        with torch.no_grad():
            head.weight.copy_(torch.from_numpy(checkpoint.softmax["weight"]))
            head.bias.copy_(torch.from_numpy(checkpoint.softmax["bias"]))
        return head.eval()

    def logits(self, outputs: Float[Tensor, "targets projection"]) -> Float[Tensor, "targets vocabulary"]:
        """One number for every word of the vocabulary."""
        return functional.linear(outputs, self.weight, self.bias)

    def nats(
        self, outputs: Float[Tensor, "targets projection"], target_ids: Int[Tensor, " targets"], chunk: int = 512
    ) -> Float[Tensor, " targets"]:
        """The full softmax's loss of each target, in nats; `chunk` targets at a time bound the memory."""
        parts = [
            functional.cross_entropy(self.logits(some), ids, reduction="none")
            for some, ids in zip(outputs.split(chunk), target_ids.split(chunk), strict=True)
        ]
        return torch.cat(parts) if parts else outputs.new_zeros(0)

    def best(self, outputs: Float[Tensor, "targets projection"], count: int) -> Iterator[list[tuple[str, float]]]:
        """For each output the `count` most probable words with their probabilities."""
        values, ids = torch.softmax(self.logits(outputs), dim=1).topk(count)
        for row_values, row_ids in zip(values.tolist(), ids.tolist(), strict=True):
            yield [(self.vocabulary[i], value) for i, value in zip(row_ids, row_values, strict=True)]
