"""Substitutes: which words each direction's language model would put in a place.

The forward language model sees only what is left of the place, the backward one only what is right of it. The product
of their probabilities uses both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.targets.target_ids import SPECIAL_WORDS


@dataclass(frozen=True)
class Prediction:
    """What one direction predicts for a place."""

    best: list[tuple[str, float]]
    """The most probable words with their probabilities, the best first; `<UNK>` and the boundaries are left out. An
    entry that ends in `⋯` stands for all unlisted words with that beginning."""
    probability: float | None
    """Of the word that stands there; None if the vocabulary lacks it."""
    rank: int | None
    """Words at least as probable as the one that stands there: 1 for the best."""


@torch.inference_mode()
def substitutes(
    bilm: BiLM, head: LMHead, sentence: Sequence[str], place: int, count: int = 10
) -> dict[str, Prediction]:
    """For each direction of the model, and for "both", the `count` most probable words for `sentence[place]` (from 0).

    "both" is given if the model has two directions: the product of their probabilities, scaled to a sum of 1 over all
    words. It uses the sentence on both sides, and assumes that they are independent given the word. `<UNK>` and the
    boundaries are left out, since they can't be put anywhere. The sentence starts from a zero state.
    Raises ConfigError for a place outside the sentence or a count below 1.
    """
    if not 0 <= place < len(sentence):
        raise ConfigError(f"place is {place}, but places of {len(sentence)} tokens count from 0. Use one of them.")
    if count < 1:
        raise ConfigError(f"count is {count}, but must be 1 or more: it is how many words are given.")
    log_probabilities = {
        direction: torch.log_softmax(head.logits(output[None]).double(), dim=1)[0]
        for direction, output in _outputs_beside(bilm, sentence, place).items()
    }
    ids = head.target_ids
    for values in log_probabilities.values():
        values[[ids.begin, ids.end, ids.unknown]] = -torch.inf
    if len(log_probabilities) > 1:
        log_probabilities["both"] = torch.log_softmax(torch.stack(list(log_probabilities.values())).sum(dim=0), dim=0)
    return {name: _prediction(head, values.exp(), sentence[place], count) for name, values in log_probabilities.items()}


def _outputs_beside(bilm: BiLM, sentence: Sequence[str], place: int) -> dict[str, Tensor]:
    """Each direction's top output where it has read all on its side of the place and nothing else."""
    ids = bilm.token_map.ids(sentence)
    characters = None if ids.characters is None else torch.from_numpy(ids.characters)[None].to(bilm.device)
    words = None if ids.words is None else torch.from_numpy(ids.words)[None].to(bilm.device)
    outputs = bilm(characters, words).layers[-1, 0].chunk(len(bilm.lstms), dim=1)
    # With the boundaries around, the token stands at place + 1; the forward LM predicts it one before, the backward
    # one from the one after.
    reader = {"forward": place, "backward": place + 2}
    return {
        direction: output[reader[direction]] for direction, output in zip(bilm.config.directions, outputs, strict=True)
    }


def _prediction(head: LMHead, probabilities: Tensor, word: str, count: int) -> Prediction:
    values, ids = probabilities.topk(min(count, int((probabilities > 0).sum())))
    best = [(head.vocabulary[i], value) for i, value in zip(ids.tolist(), values.tolist(), strict=True)]
    if word not in head.target_ids or word in SPECIAL_WORDS:
        return Prediction(best, None, None)
    own = probabilities[head.target_ids.id(word)]
    return Prediction(best, float(own), int((probabilities >= own).sum()))
