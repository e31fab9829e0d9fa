"""BiAttention: a passage reads a question. Source: Seo et al. 2017, section 3; as in Clark and Gardner 2018.

s    = trilinear scores (passage, question)
c_i  = softmax over the question of s_i . question         what of the question fits passage token i
g    = softmax over the passage of max_j s_ij . passage    one vector: what of the passage fits the question
p_i -> [p_i ; c_i ; p_i * c_i ; p_i * g]
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.tasks.layers.attention import masked_softmax
from elmo.tasks.layers.trilinear.scores import Trilinear


class BiAttention(nn.Module):
    """Passage and question vectors -> passage vectors that know the question."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scores = Trilinear(dim)
        self.output_dim = 4 * dim

    def forward(
        self,
        passage: Float[Tensor, "batch tokens dim"],
        question: Float[Tensor, "batch words dim"],
        passage_mask: Bool[Tensor, "batch tokens"],
        question_mask: Bool[Tensor, "batch words"],
    ) -> Float[Tensor, "batch tokens dim*4"]:
        """Padding has no effect on tokens; values at padding are meaningless."""
        scores = self.scores(passage, question)
        attended = masked_softmax(scores, question_mask[:, None, :]) @ question
        best = scores.masked_fill(~question_mask[:, None, :], torch.finfo(scores.dtype).min).amax(dim=2)
        whole = masked_softmax(best, passage_mask)[:, None, :] @ passage
        return torch.cat([passage, attended, passage * attended, passage * whole], dim=2)
