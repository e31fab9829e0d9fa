"""Substitutes: the words that each direction's language model expects in a position.

The forward language model sees only the left side of the position, the backward one only the right side. The product
of their probabilities uses both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elmo.engine.softmax import log_softmax
from elmo.lm.language_model import LanguageModel
from elmo.setting_checks import PositiveInt, require_value
from elmo.shapes import Float
from elmo.text.batches import number_tokens, pad
from elmo.text.sentence_checks import require_place
from elmo.text.vocabulary import SPECIAL_WORDS


@dataclass(frozen=True)
class Prediction:
    """The prediction of one direction for a position."""

    best: list[tuple[str, float]]
    """The most probable words with their probabilities, the best first; `<UNK>` and the boundaries are left out. An
    entry that ends in `⋯` means all unlisted words with that beginning."""
    probability: float | None
    """Of the sentence's own word; None if the vocabulary lacks it."""
    rank: int | None
    """The number of words at least as probable as the sentence's own: 1 for the best."""


def substitutes(model: LanguageModel, sentence: Sequence[str], place: int, count: int = 10) -> dict[str, Prediction]:
    """For each direction of the model, and for "both", the `count` most probable words for `sentence[place]` (from 0).

    "both" is given if the model has two directions: the product of their probabilities, scaled to a sum of 1 over all
    words. It uses the sentence on both sides, and assumes that they are independent given the word. `<UNK>` and the
    boundaries are left out, since they can't be put anywhere. The sentence starts from a zero state.
    Raises ConfigError for a place outside the sentence or a count below 1.
    """
    require_place(sentence, place)
    require_value("count", count, PositiveInt)
    log_probabilities = _log_probabilities(model, sentence, place)
    ids = model.target_ids
    for values in log_probabilities.values():
        values[[ids.begin, ids.end, ids.unknown]] = -np.inf
    if len(log_probabilities) > 1:
        together = np.sum([*log_probabilities.values()], axis=0)
        log_probabilities["both"] = log_softmax(together[None])[0]
    return {
        name: _prediction(model, np.exp(values), sentence[place], count) for name, values in log_probabilities.items()
    }


def _log_probabilities(
    model: LanguageModel, sentence: Sequence[str], place: int
) -> dict[str, Float[np.ndarray, " vocabulary"]]:
    """Each direction's where it has read all on its side of the place and nothing else."""
    tokens, places = number_tokens([sentence], model.token_map.boundary_tokens)
    batch = pad(places, np.zeros(1, np.int64))
    outputs = model.outputs(model.token_vectors(tokens), batch.places, batch.lengths)
    # With the boundaries around, the token is at place + 1; the forward LM predicts it one before, the backward
    # one from the one after.
    reader = {"forward": place, "backward": place + 2}
    return {direction: model.log_probabilities(output, 0, reader[direction]) for direction, output in outputs.items()}


def _prediction(
    model: LanguageModel, probabilities: Float[np.ndarray, " vocabulary"], word: str, count: int
) -> Prediction:
    count = min(count, int((probabilities > 0).sum()))
    likely = np.argpartition(-probabilities, count - 1)[:count] if count else np.zeros(0, np.int64)
    likely = likely[np.lexsort((likely, -probabilities[likely]))]
    best = [(model.vocabulary[i], value) for i, value in zip(likely, probabilities[likely].tolist(), strict=True)]
    if word not in model.target_ids or word in SPECIAL_WORDS:
        return Prediction(best, None, None)
    own = probabilities[model.target_ids.id(word)]
    return Prediction(best, float(own), int((probabilities >= own).sum()))
