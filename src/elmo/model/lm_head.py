"""LMHead: the softmax over the vocabulary that makes a language model of each direction.

Source: bilm-tf `bilm/training.py`; for clusters Grave et al. 2017. One softmax serves both directions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.ops.adaptive_softmax import AdaptiveWeights, Cluster, adaptive_log_probabilities, adaptive_softmax_nats
from elmo.ops.full_softmax import full_softmax_reference
from elmo.text.vocabulary import TargetIds
from elmo.weights.checkpoint import Checkpoint, required_softmax


class SoftmaxCluster(nn.Module):
    """The weights of one cluster of rarer words."""

    def __init__(self, num_words: int, width: int, projection_size: int) -> None:
        super().__init__()
        self.projection = nn.Parameter(torch.empty(width, projection_size))
        self.weight = nn.Parameter(torch.empty(num_words, width))
        self.bias = nn.Parameter(torch.zeros(num_words))
        nn.init.normal_(self.projection, 0, 1 / math.sqrt(projection_size))
        nn.init.normal_(self.weight, 0, 1 / math.sqrt(width))


# Logits are made for some targets at a time: larger blocks than this cost as much in page faults as in arithmetic.
_LOGITS_BYTES = 32 << 20
# But the table of a large vocabulary (1.6 GB with 793,471 words) must not be read once for each few targets.
_LEAST_TARGETS = 32


class LMHead(nn.Module):
    """Outputs of one direction -> log-probabilities of the next word in that direction.

    With `clusters` it is an adaptive softmax: (number of words, width of their vectors) of each cluster of rarer words,
    in the order of the vocabulary, whose first words are in no cluster.
    """

    def __init__(self, vocabulary: list[str], projection_size: int, clusters: Sequence[tuple[int, int]] = ()) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        entries = len(vocabulary) - sum(words for words, _ in clusters) + len(clusters)
        self.weight = nn.Parameter(torch.empty(entries, projection_size))
        self.bias = nn.Parameter(torch.zeros(entries))
        nn.init.normal_(self.weight, 0, 1 / math.sqrt(projection_size))
        self.clusters = nn.ModuleList(SoftmaxCluster(words, width, projection_size) for words, width in clusters)

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, name: str = "this model") -> "LMHead":
        """A copy of a checkpoint's softmax. Raises WeightFileError if it has none."""
        softmax, vocabulary = required_softmax(checkpoint, name)
        tensors = {name: torch.tensor(array, device="cpu") for name, array in softmax.items()}
        clusters = []
        while (weight := tensors.get(f"clusters.{len(clusters)}.weight")) is not None:
            clusters.append((weight.shape[0], weight.shape[1]))
        with torch.device("meta"):
            head = cls(vocabulary, checkpoint.config.projection_size, clusters)
        head.load_state_dict(tensors, strict=True, assign=True)
        return head.eval()

    def adaptive_weights(self, tensors: Mapping[str, Float[Tensor, "..."]] | None = None) -> AdaptiveWeights:
        """As the operation takes them: this head's, or others under the same names."""
        tensors = tensors if tensors is not None else dict(self.named_parameters())
        clusters = (
            Cluster(*(tensors[f"clusters.{index}.{part}"] for part in Cluster._fields))
            for index in range(len(self.clusters))
        )
        return AdaptiveWeights(tensors["weight"], tensors["bias"], tuple(clusters))

    def logits(self, outputs: Float[Tensor, "targets projection"]) -> Float[Tensor, "targets vocabulary"]:
        """One logit per word of the vocabulary; their softmax is the words' probabilities."""
        if self.clusters:
            return adaptive_log_probabilities(outputs, self.adaptive_weights())
        return functional.linear(outputs, self.weight, self.bias)

    def nats(
        self,
        outputs: Float[Tensor, "targets projection"],
        target_ids: Int[Tensor, " targets"],
        poll: Callable[[], object] = lambda: None,
    ) -> Float[Tensor, " targets"]:
        """The full or adaptive softmax's loss of each target, in nats.

        Of so many targets at a time as make 32 MB of logits, and 32 at least; `poll` is called before each of these
        chunks and may raise to end it.
        """
        chunk = max(_LEAST_TARGETS, _LOGITS_BYTES // (outputs.element_size() * len(self.vocabulary)))
        parts = []
        for some in zip(outputs.split(chunk), target_ids.split(chunk), strict=True):
            poll()
            parts.append(self._nats(*some))
        return torch.cat(parts) if parts else outputs.new_zeros(0)

    @cached_property
    def target_ids(self) -> TargetIds:
        """What is predicted for each token, as ids; built once, which takes about a second for a large vocabulary.

        Raises TextError if the vocabulary lacks `<S>`, `</S>` or `<UNK>`.
        """
        return TargetIds(self.vocabulary)

    def _nats(
        self, outputs: Float[Tensor, "targets projection"], target_ids: Int[Tensor, " targets"]
    ) -> Float[Tensor, " targets"]:
        if self.clusters:
            return adaptive_softmax_nats(outputs, target_ids, self.adaptive_weights())
        return full_softmax_reference(outputs, target_ids, self.weight, self.bias)
