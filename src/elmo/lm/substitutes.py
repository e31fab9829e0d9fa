"""Substitutes: which words each direction's language model would put in a place.

The forward language model knows only what stands left of the place, the backward one only what stands right of it. The
product of their chances knows both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.target_ids import SPECIAL_WORDS


@dataclass(frozen=True)
class Prediction:
    """What one direction expects in a place."""

    best: list[tuple[str, float]]
    """The most probable words with their probabilities, the best first; `<UNK>` and the boundaries are left out. An
    entry that ends in `⋯` stands for all unlisted words that begin so."""
    probability: float | None
    """Of the word that stands there; None if the vocabulary lacks it."""
    rank: int | None
    """Words at least as probable as the one that stands there: 1 for the best."""


def marked(text: str) -> tuple[list[str], int]:
    """Tokens of "The [bank] was steep ." and the place of the marked one, from 0; "[]" marks a gap.

    Raises ConfigError unless exactly one token is marked.
    """
    tokens = text.split()
    places = [place for place, token in enumerate(tokens) if token.startswith("[") and token.endswith("]")]
    places = [place for place in places if len(tokens[place]) >= 2]
    if len(places) != 1:
        raise ConfigError(
            f"{text!r} has {len(places)} tokens in brackets, but exactly one place must be marked. Separate tokens by "
            "spaces and mark one: 'The [bank] was steep .'"
        )
    place = places[0]
    return [*tokens[:place], tokens[place][1:-1], *tokens[place + 1 :]], place


@torch.inference_mode()
def substitutes(
    bilm: BiLM, head: LMHead, sentence: Sequence[str], place: int, count: int = 10
) -> dict[str, Prediction]:
    """For each direction of the model, and for "both", the `count` most probable words for `sentence[place]` (from 0).

    "both" is there if the model has two directions: the product of their chances, scaled to a sum of 1 over all words.
    It knows the sentence on both sides, and takes the sides for independent given the word. `<UNK>` and the boundaries
    are no words to put anywhere, so they are left out. The sentence starts from a zero state.
    Raises ConfigError for a place outside the sentence or a count below 1.
    """
    if not 0 <= place < len(sentence):
        raise ConfigError(f"place is {place}, but places of {len(sentence)} tokens count from 0. Use one of them.")
    if count < 1:
        raise ConfigError(f"count is {count}, but must be 1 or more: it is how many words are given.")
    chances = {
        direction: torch.log_softmax(head.logits(output[None]).double(), dim=1)[0]
        for direction, output in _outputs_beside(bilm, sentence, place).items()
    }
    for values in chances.values():
        values[[index for index, word in enumerate(head.vocabulary) if word in SPECIAL_WORDS]] = -torch.inf
    if len(chances) > 1:
        chances["both"] = torch.log_softmax(sum(chances.values()), dim=0)
    return {name: _prediction(head, values.exp(), sentence[place], count) for name, values in chances.items()}


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
    if word not in head.vocabulary or word in SPECIAL_WORDS:
        return Prediction(best, None, None)
    own = probabilities[head.vocabulary.index(word)]
    return Prediction(best, float(own), int((probabilities >= own).sum()))
