"""Checks of a run's settings. Every message has the setting with its value, the reason, and what to use instead."""

from collections.abc import Sequence
from typing import Any

from elmo.errors import ConfigError


def check_combinations(config: Any) -> None:
    """Raises ConfigError for the first settings of a PretrainConfig that are invalid together."""
    _check_softmax(config)
    _check_weight_decay(config)
    _check_patience(config)


def _check_weight_decay(config: Any) -> None:
    if config.weight_decay and config.optimizer != "adamw":
        raise ConfigError(
            f"weight_decay is {config.weight_decay}, but optimizer is {config.optimizer!r}, which has none here. Set "
            "optimizer to adamw, or leave weight_decay out."
        )


def _check_patience(config: Any) -> None:
    if config.patience and not (config.keep_best and config.evaluate_every):
        raise ConfigError(
            f"patience is {config.patience} with keep_best={config.keep_best} and "
            f"evaluate_every={config.evaluate_every}, but it counts evaluations and goes back to the best checkpoint. "
            "Set keep_best and evaluate_every, or set patience to 0."
        )


def pairs(name: str, value: Any) -> tuple[tuple[int, int], ...]:
    """[width, number] pairs, as tuples."""
    rows: Sequence[Any] = value if isinstance(value, list | tuple) else [None]
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 and all(map(_is_whole, pair)) for pair in rows):
        raise ConfigError(
            f"{name} is {value!r}, but must be a list of [width, number] pairs: how many filters of each width the "
            "char CNN has. Write for instance [[1, 32], [2, 32], [3, 64]]."
        )
    return tuple((width, number) for width, number in rows)


def whole_numbers(name: str, value: Any) -> tuple[int, ...]:
    """A list of whole numbers, as a tuple."""
    if not isinstance(value, list | tuple) or not all(map(_is_whole, value)):
        raise ConfigError(
            f"{name} is {value!r}, but must be a list of whole numbers: they are vocabulary ids. Write for instance "
            "[2000, 10000]."
        )
    return tuple(value)


def checked_clusters(cutoffs: Sequence[int], vocabulary_size: int) -> list[int]:
    """Words of each cluster. ConfigError if the last one would be empty."""
    if cutoffs[-1] >= vocabulary_size:
        raise ConfigError(
            f"softmax_cutoffs is {list(cutoffs)}, but the vocabulary has {vocabulary_size} words: its last cluster "
            f"would be empty. Use cutoffs below {vocabulary_size}, or softmax=full for a vocabulary this small."
        )
    ends = [*cutoffs[1:], vocabulary_size]
    return [end - begin for begin, end in zip(cutoffs, ends, strict=True)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_softmax(config: Any) -> None:
    cutoffs = config.softmax_cutoffs
    if config.softmax == "adaptive" and not cutoffs:
        raise ConfigError(
            "softmax_cutoffs is empty, but the adaptive softmax needs to know where its clusters of rarer words begin. "
            "Give vocabulary ids, for instance [2000, 10000]."
        )
    if config.softmax != "adaptive" and cutoffs:
        raise ConfigError(
            f"softmax_cutoffs is {list(cutoffs)}, but softmax is {config.softmax!r}, which has no clusters. Set "
            "softmax to adaptive, or leave the cutoffs out."
        )
    if any(begin >= end for begin, end in zip((0, *cutoffs), cutoffs, strict=False)):
        raise ConfigError(
            f"softmax_cutoffs is {list(cutoffs)}, but must be ascending, each at least 1: between two of them lie the "
            "words of a cluster. Sort them and remove repetitions."
        )
    if not config.tie_softmax:
        return
    what = None
    if config.characters != "none":
        what = f"characters is {config.characters!r}: such a model has no vectors of words. Set characters to none"
    elif config.word_dim not in (0, config.projection_size):
        what = f"word_dim is {config.word_dim}, not projection_size ({config.projection_size}). Leave word_dim out"
    elif config.softmax == "adaptive":
        what = "softmax is 'adaptive', whose vectors have several widths. Use sampled or full"
    if what:
        raise ConfigError(f"tie_softmax is true, but {what}, or leave tie_softmax out.")
