"""The ELMo inside an AllenNLP model's state dict -> config, tensors, mixes.

This is how a biLM that AllenNLP trained further, or the mixes a task learned, come here. An archive's `weights.th` is
a pickle: read it with `elmo.weights.pickle.read_state_dict` and pass what that returns.

Source: AllenNLP `allennlp/modules/elmo.py`, `elmo_lstm.py`, `highway.py`, `scalar_mix.py`. Its quirks:

- LSTM gates are input, forget, candidate, output;
- the constant 1 of the forget gate was added to its bias when the weights were loaded. Taking it off again would
  round, so it stays in the bias and the config says `forget_bias=0.0`: exactly the same network, but one that
  `allennlp.write` refuses, since the readers of that format always add 1;
- a highway's rows are [transform, gate] and its gate is the negative of ours;
- each weight of a mix is a parameter of its own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.bounded import understood
from elmo.errors import WeightFileError
from elmo.weights.allennlp.names import to_our_order
from elmo.weights.shapes import Shape, require_agreement

_EMBEDDING = "_elmo_lstm._token_embedder._char_embedding_weights"
_ENCODER, _LSTM = "_elmo_lstm._token_embedder", "_elmo_lstm._elmo_lstm"
# Token vectors made beforehand (`vocab_to_cache`): what the char CNN gives, kept a second time.
_CACHE = "_elmo_lstm._word_embedding.weight"
_GATE_ORDER = "ifjo"
_NEXT_STEP = "Pass the state dict of AllenNLP's Elmo, or of a model that has one in it."


@dataclass(frozen=True)
class AllenNlpElmo:
    """An AllenNLP `Elmo` as data."""

    config: BiLMConfig
    """Its `forget_bias` is 0: the constant is in the bias already."""
    tensors: dict[str, np.ndarray]
    """Every tensor of the biLM by its name in `BiLM.state_dict()`, float32."""
    mixes: dict[str, np.ndarray]
    """The scalar mixes by their names in `ELMo.learned_state_dict()`."""


def from_state_dict(tensors: Mapping[str, np.ndarray], settings: BiLMConfig | None = None) -> AllenNlpElmo:
    """The biLM and the scalar mixes in a state dict, whose names may have any prefix.

    Sizes come from the tensors' shapes. What shapes don't show (activation, clips, characters per token) comes from
    `settings`: the model's options.json read as a config; by default the published models'. Tensors of the task's own
    model are ignored. Raises WeightFileError if there is no ELMo, more than one, or one of another shape.
    """
    theirs = _without_prefix(tensors)
    shapes = {name: array.shape for name, array in theirs.items()}
    config = _config(shapes, settings or BiLMConfig())
    network = {name: shape for name, shape in shapes.items() if name.startswith("_elmo_lstm.") and name != _CACHE}
    require_agreement(network, _shapes(config), file="the state dict", asked_by="its own sizes", kind="tensor")
    ours = {**_encoder_tensors(theirs, config), **lstm_tensors(theirs, config, f"{_LSTM}.")}
    return AllenNlpElmo(
        config,
        {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in ours.items()},
        _mixes(theirs, config),
    )


def _without_prefix(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefixes = [name.removesuffix(_EMBEDDING) for name in tensors if name.endswith(_EMBEDDING)]
    if len(prefixes) != 1:
        found = "no ELMo" if not prefixes else f"{len(prefixes)} ELMos ({', '.join(map(repr, prefixes))})"
        raise WeightFileError(
            f"the state dict has {found}: {len(prefixes)} of its {len(tensors)} names end with {_EMBEDDING!r}. "
            + (_NEXT_STEP if not prefixes else "Pass the tensors of one of them.")
        )
    prefix = prefixes[0]
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def _config(shapes: Mapping[str, Shape], settings: BiLMConfig) -> BiLMConfig:
    with understood("the state dict", WeightFileError, f"Its tensors don't form a biLM. {_NEXT_STEP}"):
        convolutions = [shapes[name] for name in _numbered(shapes, rf"{_ENCODER}\.char_conv_(\d+)\.weight")]
        return replace(
            settings,
            characters="bytes",
            character_dim=shapes[_EMBEDDING][1],
            filters=tuple((width, count) for count, _, width in convolutions),
            num_highway=len(_numbered(shapes, rf"{_ENCODER}\._highways\._layers\.(\d+)\.weight")),
            token_projection=True,
            num_words=0,
            word_dim=0,
            cell_size=shapes[f"{_LSTM}.forward_layer_0.state_projection.weight"][1],
            projection_size=shapes[f"{_ENCODER}._projection.weight"][0],
            num_layers=len(_numbered(shapes, rf"{_LSTM}\.forward_layer_(\d+)\.state_projection\.weight")),
            skip_connections=True,
            forget_bias=0.0,
            direction="both",
        )


def _numbered(shapes: Mapping[str, Shape], pattern: str) -> list[str]:
    """The names that fit the pattern, in the order of the number in them."""
    found = [(int(match[1]), name) for name in shapes if (match := re.fullmatch(pattern, name))]
    return [name for _, name in sorted(found)]


def _shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    features, size = config.num_filters, config.projection_size
    yield _EMBEDDING, (config.num_characters, config.character_dim)
    for i, (width, count) in enumerate(config.filters):
        yield f"{_ENCODER}.char_conv_{i}.weight", (count, config.character_dim, width)
        yield f"{_ENCODER}.char_conv_{i}.bias", (count,)
    for k in range(config.num_highway):
        yield f"{_ENCODER}._highways._layers.{k}.weight", (2 * features, features)
        yield f"{_ENCODER}._highways._layers.{k}.bias", (2 * features,)
    yield f"{_ENCODER}._projection.weight", (size, features)
    yield f"{_ENCODER}._projection.bias", (size,)
    yield from lstm_shapes(config, f"{_LSTM}.")


def lstm_shapes(config: BiLMConfig, prefix: str = "") -> Iterator[tuple[str, Shape]]:
    """Name and shape of every tensor of AllenNLP's LSTMs, which ELMoForManyLangs' are too."""
    gates, size = 4 * config.cell_size, config.projection_size
    for name in _lstm_layers(config, prefix):
        yield f"{name}.input_linearity.weight", (gates, size)
        yield f"{name}.state_linearity.weight", (gates, size)
        yield f"{name}.state_linearity.bias", (gates,)
        yield f"{name}.state_projection.weight", (size, config.cell_size)


def lstm_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig, prefix: str = "") -> dict[str, np.ndarray]:
    """Our LSTMs' tensors, from those of `lstm_shapes`."""
    ours = {}
    for source, target in _lstm_layers(config, prefix).items():
        ours[f"{target}.input_weight"] = to_our_order(theirs[f"{source}.input_linearity.weight"], _GATE_ORDER)
        ours[f"{target}.recurrent_weight"] = to_our_order(theirs[f"{source}.state_linearity.weight"], _GATE_ORDER)
        ours[f"{target}.bias"] = to_our_order(theirs[f"{source}.state_linearity.bias"], _GATE_ORDER)
        ours[f"{target}.projection_weight"] = theirs[f"{source}.state_projection.weight"]
    return ours


def _lstm_layers(config: BiLMConfig, prefix: str) -> dict[str, str]:
    """The name of each LSTM layer there -> here."""
    return {
        f"{prefix}{direction}_layer_{layer}": f"{direction}_lstm.layers.{layer}"
        for direction in config.directions
        for layer in range(config.num_layers)
    }


def _encoder_tensors(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    # Row 0 is padding: nothing depends on its values.
    embedding = np.array(theirs[_EMBEDDING])
    embedding[0] = 0
    ours = {"character_embedding": embedding}
    for part in ("weight", "bias"):
        for i in range(len(config.filters)):
            ours[f"convolutions.{i}.{part}"] = theirs[f"{_ENCODER}.char_conv_{i}.{part}"]
        for k in range(config.num_highway):
            transform, gate = np.split(theirs[f"{_ENCODER}._highways._layers.{k}.{part}"], 2)
            ours[f"highways.{k}.transform.{part}"], ours[f"highways.{k}.gate.{part}"] = transform, -gate
        ours[f"projection.{part}"] = theirs[f"{_ENCODER}._projection.{part}"]
    return {f"token_encoder.{name}": array for name, array in ours.items()}


def _mixes(theirs: Mapping[str, np.ndarray], config: BiLMConfig) -> dict[str, np.ndarray]:
    mixes = {}
    for index, gamma in enumerate(_numbered(dict.fromkeys(theirs, ()), r"scalar_mix_(\d+)\.gamma")):
        mix = gamma.removesuffix(".gamma")
        names = [f"{mix}.scalar_parameters.{layer}" for layer in range(config.num_layers + 1)]
        with understood(f"the state dict's {mix!r}", WeightFileError, f"A mix has a number for each. {_NEXT_STEP}"):
            mixes[f"mixes.{index}.raw_weights"] = np.array([theirs[name].item() for name in names], dtype=np.float32)
            mixes[f"mixes.{index}.gamma"] = np.array([theirs[gamma].item()], dtype=np.float32)
    return mixes
