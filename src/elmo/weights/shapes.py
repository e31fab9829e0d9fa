"""Names and shapes of a model's tensors: those that its config asks for, and whether a file has them."""

from collections.abc import Iterable, Iterator, Mapping

from elmo.config import BiLMConfig
from elmo.disk.bounded import shown
from elmo.errors import WeightFileError

Shape = tuple[int, ...]


def network_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """Name and shape of every tensor of the network, by its name in `BiLM.state_dict()`, one at a time."""
    yield from _token_encoder_shapes(config)
    for direction in config.directions:
        for layer in range(config.num_layers):
            yield from _lstm_shapes(f"{direction}_lstm.layers.{layer}", config)


def _token_encoder_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    encoder, features = "token_encoder", config.num_filters
    if config.has_characters:
        yield f"{encoder}.character_embedding", (config.num_characters, config.character_dim)
        for index, (width, count) in enumerate(config.filters):
            yield f"{encoder}.convolutions.{index}.weight", (count, config.character_dim, width)
            yield f"{encoder}.convolutions.{index}.bias", (count,)
        for index in range(config.num_highway):
            for branch in ("transform", "gate"):
                yield f"{encoder}.highways.{index}.{branch}.weight", (features, features)
                yield f"{encoder}.highways.{index}.{branch}.bias", (features,)
    if config.has_words:
        yield f"{encoder}.word_embedding", (config.num_words, config.word_dim)
    if config.token_projection:
        yield f"{encoder}.projection.weight", (config.projection_size, config.token_features)
        yield f"{encoder}.projection.bias", (config.projection_size,)


def _lstm_shapes(prefix: str, config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    gates = 4 * config.cell_size
    yield f"{prefix}.input_weight", (gates, config.projection_size)
    yield f"{prefix}.recurrent_weight", (gates, config.projection_size)
    yield f"{prefix}.bias", (gates,)
    if config.has_lstm_projection:
        yield f"{prefix}.projection_weight", (config.projection_size, config.cell_size)


def state_shapes(config: BiLMConfig) -> Iterator[tuple[str, Shape]]:
    """Name and shape of the arrays of a warm state."""
    directions = len(config.directions)
    yield "hidden", (config.num_layers, directions * config.projection_size)
    yield "cell", (config.num_layers, directions * config.cell_size)


def softmax_shapes(found: Mapping[str, Shape], config: BiLMConfig) -> list[tuple[str, Shape]]:
    """Name and shape of every tensor of a full softmax, or of an adaptive one, whose clusters are numbered from 0.

    The sizes of the vocabulary and of the clusters are those that were found.
    """
    rows = (found.get("weight") or (1,))[0]
    shapes: list[tuple[str, Shape]] = [("weight", (rows, config.projection_size)), ("bias", (rows,))]
    for index in range(num_clusters(found)):
        shape = found.get(f"clusters.{index}.weight", ())
        words, width = shape if len(shape) == 2 else (1, 1)
        shapes += [
            (f"clusters.{index}.projection", (width, config.projection_size)),
            (f"clusters.{index}.weight", (words, width)),
            (f"clusters.{index}.bias", (words,)),
        ]
    return shapes


def num_clusters(found: Mapping[str, Shape]) -> int:
    """Clusters of an adaptive softmax; 0 for a full one."""
    return len({name.split(".")[1] for name in found if name.startswith("clusters.")})


def softmax_words(found: Mapping[str, Shape]) -> int:
    """Number of words of a softmax with valid shapes: each cluster takes one row of the first softmax."""
    clusters = range(num_clusters(found))
    return found["bias"][0] - len(clusters) + sum(found[f"clusters.{index}.bias"][0] for index in clusters)


def require_agreement(
    found: Mapping[str, Shape], expected: Iterable[tuple[str, Shape]], *, file: str, asked_by: str, kind: str
) -> None:
    """Raises WeightFileError unless `found` has exactly the `expected` names and shapes.

    `file` holds them, `asked_by` is the file that expects them, `kind` is what the format calls them ("tensor",
    "dataset").
    """
    wanted = dict(expected)
    for name in {**wanted, **found}:
        if found.get(name) != wanted.get(name):
            there, asked = (shown(one[name]) if name in one else "none" for one in (found, wanted))
            raise WeightFileError(
                f"{file}: {kind} {shown(name, 99)} has shape {there}, but {asked_by} asks for {asked}: these files "
                f"belong to different models, or one is incomplete. Pass the matching {asked_by.removeprefix('the ')}; "
                "'elmo inspect' shows what a file has."
            )
