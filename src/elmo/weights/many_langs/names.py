"""ELMoForManyLangs' files and tensors: how they are called, their shapes, and the tensors they are here.

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`, `modules/`. The quirks:

- ids count from 0 there; here every id moves up by 1, because 0 means no token, and each embedding gets a zero row 0;
- a highway's rows are [nonlinear, gate] with y = g x + (1 - g) relu(..), so that our gate is the negative of theirs;
- LSTM gates are i, f, j, o, and the forget bias is in the bias already.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from elmo.config import BiLMConfig
from elmo.weights.allennlp.names import to_our_order, with_padding_row
from elmo.weights.shapes import Shape

PICKLES = ("token_embedder.pkl", "encoder.pkl")
WORDS, CHARACTERS = "word_emb_layer.embedding.weight", "char_emb_layer.embedding.weight"


def embedder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every tensor that token_embedder.pkl of such a model holds."""
    if config.has_words:
        yield WORDS, (config.num_words - 1, config.word_dim)
    if config.has_characters:
        yield CHARACTERS, (config.num_characters - 1, config.character_dim)
        for i, (width, count) in enumerate(config.filters):
            yield f"convolutions.{i}.weight", (count, config.character_dim, width)
            yield f"convolutions.{i}.bias", (count,)
        for k in range(config.num_highway):
            yield f"highways._layers.{k}.weight", (2 * config.num_filters, config.num_filters)
            yield f"highways._layers.{k}.bias", (2 * config.num_filters,)
    yield "projection.weight", (config.projection_size, config.token_features)
    yield "projection.bias", (config.projection_size,)


def encoder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every tensor that encoder.pkl of such a model holds."""
    gates, size = 4 * config.cell_size, config.projection_size
    for layer in range(config.num_layers):
        for direction in config.directions:
            prefix = f"{direction}_layer_{layer}"
            yield f"{prefix}.input_linearity.weight", (gates, size)
            yield f"{prefix}.state_linearity.weight", (gates, size)
            yield f"{prefix}.state_linearity.bias", (gates,)
            yield f"{prefix}.state_projection.weight", (size, config.cell_size)


def embedder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    """The token encoder's tensors here, from those of token_embedder.pkl."""
    ours = {"projection.weight": theirs["projection.weight"], "projection.bias": theirs["projection.bias"]}
    if config.has_words:
        ours["word_embedding"] = with_padding_row(theirs[WORDS])
    if config.has_characters:
        ours["character_embedding"] = with_padding_row(theirs[CHARACTERS])
        ours |= {name: array for name, array in theirs.items() if name.startswith("convolutions.")}
        for k in range(config.num_highway):
            for part in ("weight", "bias"):
                nonlinear, gate = np.split(theirs[f"highways._layers.{k}.{part}"], 2)
                ours[f"highways.{k}.transform.{part}"] = nonlinear
                ours[f"highways.{k}.gate.{part}"] = -gate
    return {f"token_encoder.{name}": np.ascontiguousarray(array) for name, array in ours.items()}


def encoder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    """The LSTMs' tensors here, from those of encoder.pkl."""
    ours = {}
    for direction in config.directions:
        for layer in range(config.num_layers):
            source, target = f"{direction}_layer_{layer}", f"{direction}_lstm.layers.{layer}"
            ours[f"{target}.input_weight"] = to_our_order(theirs[f"{source}.input_linearity.weight"], "ifjo")
            ours[f"{target}.recurrent_weight"] = to_our_order(theirs[f"{source}.state_linearity.weight"], "ifjo")
            ours[f"{target}.bias"] = to_our_order(theirs[f"{source}.state_linearity.bias"], "ifjo")
            ours[f"{target}.projection_weight"] = theirs[f"{source}.state_projection.weight"]
    return ours
