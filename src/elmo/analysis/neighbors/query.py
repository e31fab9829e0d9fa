"""A word in its sentence -> its nearest tokens in an index, for each layer; and its nearest static words."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from elmo.analysis.neighbors.context_index import ContextIndex, Hit, LayerOrWeights
from elmo.analysis.neighbors.korean import forms_of, verb_forms_of
from elmo.embed.encoder import token_layers
from elmo.errors import ConfigError
from elmo.setting_checks import PositiveInt, require_setting, require_value
from elmo.static.vectors import StaticVectors
from elmo.text.sentence_checks import require_place

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder


def require_model(index: ContextIndex, embedder: "Embedder") -> None:
    """ConfigError unless the index was built with the embedder's weights: vectors of two models can't be compared."""
    if index.facts.model_hash != embedder.model_hash:
        raise ConfigError(
            f"{index.folder} was built with {index.facts.model or 'the default model'} (weights "
            f"{index.facts.model_hash[:12]}), but this model's are {embedder.model_hash[:12]}. Name that model with "
            "--model, or build the index again."
        )


def require_forms(index: ContextIndex, noun: str | None, verb: str | None) -> None:
    """ConfigError for a Korean noun or verb of which the index has no form: nothing would be found."""
    for kind, word, forms in (("noun", noun, forms_of), ("verb", verb, verb_forms_of)):
        if word is not None:
            is_there = word != "" and bool(forms(word, index.words))
            written = "" if kind == "noun" else ", written as in a dictionary (타다 for 탔다),"
            require_setting(is_there, kind, word, f"a Korean {kind}{written} that {index.folder} has in some form")


def neighbors(
    index: ContextIndex,
    embedder: "Embedder",
    tokens: Sequence[str],
    place: int,
    count: int = 6,
    *,
    weights: Sequence[float] | None = None,
    noun: str | None = None,
    verb: str | None = None,
    center: bool = False,
) -> list[dict[str, list[Hit]]]:
    """For each layer, the nearest other words ("other") and the nearest occurrences of the same word ("same").

    `weights`: one for each layer; the neighbors by their weighted sum come last. The sentence itself is left out
    wherever the index has it. `noun`: a Korean noun; words that are this noun with particles count as the same
    word. `verb`: a Korean verb as a dictionary has it; words that are this verb with endings do. `center`: vectors are
    compared without the mean over the index. Raises ConfigError for a place outside the sentence.
    """
    require_place(tokens, place)
    (layers,) = token_layers(embedder, [tokens])
    vectors = layers[:, place]
    queries: list[tuple[LayerOrWeights, np.ndarray]] = list(enumerate(vectors))
    if weights is not None:
        queries.append((list(weights), index.checked_weights(weights) @ vectors))
    word, own = tokens[place], tuple(tokens)
    forms = [*(forms_of(noun, index.words) if noun else ()), *(verb_forms_of(verb, index.words) if verb else ())]
    search = partial(index.search, count=count, word=word, forms=forms, not_sentence=own, center=center)
    return [{which: search(vector, layer, which=which) for which in ("other", "same")} for layer, vector in queries]


def static_neighbors(static: StaticVectors, word: str, count: int = 10) -> list[tuple[str, float]]:
    """The nearest words by cosine, the word itself left out. Empty if the file doesn't have the word.

    Raises ConfigError for a `count` below 1.
    """
    require_value("count", count, PositiveInt)
    row = static.row(word)
    if row is None:
        return []
    lengths = np.linalg.norm(static.vectors, axis=1)
    cosines = static.vectors @ static.vectors[row] / np.maximum(lengths * lengths[row], np.finfo(np.float32).tiny)
    cosines[row] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:count]
    return [(static.words[place], float(cosines[place])) for place in best if np.isfinite(cosines[place])]
