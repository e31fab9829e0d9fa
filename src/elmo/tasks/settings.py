"""Settings that all tasks share; what a task adds stands in `tasks/<task>/settings.py`. Nothing here loads torch.

A task's settings are a frozen dataclass whose fields are groups like these. Typed, they are one flat list: every field
of every group is a flag of `elmo task train` and a line of a TOML file, so no two groups have a field in common.
"""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeVar, get_args, get_origin

from elmo.errors import ConfigError

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class TokenSettings:
    """Which vectors tokens have. Source: paper section 3.3."""

    encoder: Literal["none", "elmo"] = "elmo"
    """none: the baseline, without a biLM; elmo: with one."""
    model: str = ""
    """The biLM: a name, a folder or file, or a hub id. Empty: $ELMO_MODEL, or the bundled model."""
    placement: Literal["input", "output", "both"] = "input"
    """Where ELMo is put: beside the vectors that the task's first RNN reads, beside what it writes, or both."""
    layers: Literal["mix", "top", "average"] = "mix"
    """Which layers ELMo is made of: a learned mix, the top one, or their plain average; each times a learned
    gamma."""
    mix_penalty: float = 0.001
    """How strongly a learned mix is drawn to the plain average: this times the sum of its squared raw weights is a term
    of the loss."""
    elmo_dropout: float = 0.5
    """Chance of each number of ELMo to become 0 in training."""
    layer_norm: Literal["none", "words", "token"] = "none"
    """How each layer is normalized before it is mixed. none: not at all; words: with one mean and one variance for all
    tokens of the batch, the original's way, in which a sentence's vectors depend on those beside it; token: with a mean
    and a variance of each token's own."""
    train_bilm: bool = False
    """Whether the biLM's own weights are trained too. It then runs in every step, and is saved with the
    task's model."""
    static: str = ""
    """File of static vectors (word2vec, GloVe, fastText). Empty: none."""
    static_words: int = 200_000
    """How many words from the beginning of the file a saved model knows; those of the data always. 0: all."""
    train_static: bool = False
    """Whether the static vectors of the training data's words are trained too."""

    def __post_init__(self) -> None:
        require_choices(self)
        require(self.mix_penalty >= 0, "mix_penalty", self.mix_penalty, "0 or more")
        require(0 <= self.elmo_dropout < 1, "elmo_dropout", self.elmo_dropout, "a chance: at least 0 and below 1")
        require(self.static_words >= 0, "static_words", self.static_words, "0 or more")


@dataclass(frozen=True)
class FitSettings:
    """How a model is trained."""

    epochs: int = 50
    """At most."""
    epoch_passes: int = 1
    """Passes over the training data that make an epoch. More where there is little data, so that the dev data isn't
    scored after every few steps, and patience isn't lost on them."""
    patience: int = 5
    """End after this many epochs in a row without a better score on the dev data; 0: never before the last epoch."""
    batch_size: int = 32
    """Examples of a batch; they are of similar length."""
    optimizer: Literal["adam", "adamw", "adadelta", "adagrad", "sgd"] = "adam"
    """The rule of a step: adam and adamw with betas 0.9, 0.999; adadelta with rho 0.95; sgd without momentum."""
    learning_rate: float = 0.001
    """At its highest."""
    decay: Literal["none", "halve", "linear"] = "none"
    """none: the rate stays; halve: it is halved after each epoch without a better dev score; linear: it falls to 0 at
    the end of the last epoch."""
    weight_decay: float = 0.0
    """adam: added to the gradient; adamw: taken off the weight."""
    clip_norm: float = 5.0
    """Bound on the norm of all gradients together; 0: none."""
    average_decay: float = 0.0
    """0: the weights are scored and kept as they are; above, for instance 0.999: their moving average is, of which this
    much stays in a step."""
    train_share: float = 1.0
    """Share of the training examples that is used; smaller shares are parts of larger ones. The labels are those of
    all."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute."""

    def __post_init__(self) -> None:
        require_choices(self)
        for name in ("epochs", "epoch_passes", "batch_size"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "a whole number from 1 on")
        for name in ("patience", "weight_decay", "clip_norm"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")
        require(0 <= self.average_decay < 1, "average_decay", self.average_decay, "at least 0 and below 1")
        require(self.learning_rate > 0, "learning_rate", self.learning_rate, "above 0")
        require(0 < self.train_share <= 1, "train_share", self.train_share, "above 0 and at most 1")


def require(condition: bool, name: str, value: object, expected: str) -> None:
    """ConfigError if a setting makes no sense."""
    if not condition:
        raise ConfigError(f"{name} is {value!r}, but must be {expected}. Change it or leave it out.")


def require_choices(group: Any) -> None:
    """ConfigError if a setting that is a choice isn't one of those there are."""
    for setting in fields(group):
        if get_origin(setting.type) is Literal:
            choices = get_args(setting.type)
            value = getattr(group, setting.name)
            require(value in choices, setting.name, value, f"one of {', '.join(map(repr, choices))}")


def to_table(settings: Any) -> dict[str, Any]:
    """A task's settings as one flat table, without their groups."""
    return {name: value for group in asdict(settings).values() for name, value in group.items()}


def with_table(settings: Settings, table: dict[str, Any], source: str) -> Settings:
    """`settings` with the values of a flat table; unknown names and wrong types are ConfigErrors that name `source`."""
    groups = {group.name: getattr(settings, group.name) for group in fields(settings)}  # type: ignore[arg-type]
    owner = {field.name: name for name, group in groups.items() for field in fields(group)}
    if unknown := sorted(set(table) - set(owner)):
        raise ConfigError(
            f"{source}: unknown setting {unknown[0]!r}, which would change nothing. The settings are: "
            f"{', '.join(owner)}."
        )
    try:
        for name, group in groups.items():
            own = {key: _like(getattr(group, key), table[key], key) for key in table if owner[key] == name}
            groups[name] = replace(group, **own)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None
    return replace(settings, **groups)  # type: ignore[type-var]


def _like(default: Any, value: Any, name: str) -> Any:
    """`value` as the type of `default`: files write lists for tuples and 1 for 1.0."""
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(value)
    if type(default) is float and type(value) is int:
        return float(value)
    require(type(value) is type(default), name, value, f"of the kind of {default!r}")
    return value
