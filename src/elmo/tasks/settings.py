"""Settings that all tasks share; what a task adds is in its own folder. Nothing here loads torch.

A task's settings are a frozen dataclass, derived from `TaskSettings`, whose fields are groups like these. On the
command line and in a TOML file they are one flat list: every field of every group is a flag of `elmo task train`, so
no two groups may have a field of the same name.
"""

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeVar

from elmo.errors import ConfigError
from elmo.layer_choice import Layers, parse_layers
from elmo.setting_checks import (
    Chance,
    Must,
    NotNegative,
    NotNegativeInt,
    Positive,
    PositiveInt,
    Settings,
    from_to,
    require_setting,
)

S = TypeVar("S", bound="TaskSettings")

MOST_EPOCHS = 1_000_000
"""Passes over the data, as in pretraining."""
MOST_LAYERS = 64
"""That a network may have."""
LARGEST_SIZE = 1 << 16
"""The most units, filters or dimensions that a layer may have: beyond it, a typing error is more likely."""

Size = Annotated[int, from_to(1, LARGEST_SIZE)]
"""Units, filters or dimensions."""
SizeOrNone = Annotated[int, from_to(0, LARGEST_SIZE)]
Sizes = Annotated[
    tuple[int, ...],
    Must(
        f"1 to {MOST_LAYERS} whole numbers from 1 to {LARGEST_SIZE:,}",
        lambda sizes: 1 <= len(sizes) <= MOST_LAYERS and all(1 <= size <= LARGEST_SIZE for size in sizes),
    ),
]
"""Of each layer, or of each kind of filters."""
Share = Annotated[float, Must("above 0 and at most 1", lambda value: 0 < value <= 1)]


@dataclass(frozen=True)
class TokenSettings(Settings):
    """Which vectors tokens have. Source: paper section 3.3."""

    encoder: str = "elmo"
    """What computes the contextual vectors. elmo: a biLM; none: nothing (the baseline); or the name of an installed
    encoder, or package.module:function (docs/your-own-task.md)."""
    model: str = ""
    """The biLM: a name, a folder or file, or a hub id. Empty: $ELMO_MODEL, or the bundled model. Another encoder gets
    it as it is."""
    placement: str = "input"
    """Where ELMo is added. input: to the input of the task's first RNN; output: to its output; both: to both, each with
    its own mix. A task can have other places."""
    layers: str = "mix"
    """Which layers ELMo uses: mix (with learned weights), average, top, an index (0: the token layer), or one weight
    per layer with commas between them. All are multiplied by gamma."""
    mix_penalty: NotNegative = 0.001
    """Strength of the penalty that pulls a learned mix towards the plain average (the paper's lambda): this number
    times the sum of the squared raw weights is added to the loss."""
    train_gamma: bool = True
    """Whether gamma is learned; otherwise it stays 1."""
    elmo_dropout: Chance = 0.5
    """Dropout on ELMo."""
    layer_norm: Literal["none", "words", "token"] = "none"
    """How each layer is normalized before mixing. none: not at all; words: with one mean and one variance over all
    tokens of the batch, as in the original, so a sentence's vectors depend on the other sentences in its batch; token:
    with the mean and variance of each token."""
    train_bilm: bool = False
    """Whether the biLM's own weights are trained too. It then runs in every step and is saved with the task's model."""
    bilm_rate: Positive = 0.1
    """train_bilm: learning rate of the biLM's top layer, as a fraction of learning_rate."""
    bilm_rate_divisor: Annotated[float, Must("from 1 to 100", lambda value: 1 <= value <= 100)] = 2.6
    """train_bilm: each layer of the biLM has the rate of the layer above it, divided by this. The token layer is the
    lowest."""
    unfreeze_epochs: NotNegativeInt = 1
    """train_bilm: the biLM's top layer is frozen for this many epochs, and each layer for as many more than the layer
    above it. 0: all are trained from the first step."""
    new_bilm: bool = False
    """train_bilm: whether the biLM begins with random weights instead of its own, for a comparison without pretraining.
    It is then trained as the rest of the model is, without the three settings above."""
    static: tuple[str, ...] = ()
    """Files of static vectors (word2vec, GloVe, fastText), each FILE or NAME=FILE; with several, their vectors are
    concatenated."""
    static_errors: Literal["strict", "skip"] = "strict"
    """What to do with a row of these files that can't be used. strict: stop; skip: leave it out, and say how many."""
    static_words: NotNegativeInt = 200_000
    """How many words from the beginning of each file a saved model keeps, in addition to the words of the data. 0:
    all."""
    train_static: bool = False
    """Whether the static vectors of the training data's words are trained too."""

    @property
    def mixed_layers(self) -> Layers:
        """`layers` as `ScalarMix.of_layers` takes it."""
        return self.layers if self.layers == "mix" else parse_layers(self.layers)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_setting(
            self.mixed_layers != "all", "layers", self.layers, "one of those that give one vector per token"
        )
        names = list(self.static_files)
        is_sound = len(names) == len(self.static) and all(name.isidentifier() for name in names)
        require_setting(
            is_sound, "static", self.static, "files, or NAME=FILE with different names of letters and digits"
        )
        is_bilm = self.encoder in ("elmo", "none")
        require_setting(is_bilm or not self.train_bilm, "train_bilm", True, f"off with the encoder {self.encoder!r}")

    @property
    def places(self) -> tuple[str, ...]:
        """The places where contextual vectors are added; none without an encoder."""
        if self.encoder == "none":
            return ()
        return ("input", "output") if self.placement == "both" else (self.placement,)

    def rate_share(self, depth: int) -> float:
        """Fraction of the learning rate for layer `depth` of a biLM that is trained, counted from the top layer, 0."""
        return 1.0 if self.new_bilm else self.bilm_rate / self.bilm_rate_divisor**depth

    def frozen_epochs(self, depth: int) -> int:
        """Epochs in which that layer isn't trained yet."""
        return 0 if self.new_bilm else self.unfreeze_epochs * (depth + 1)

    @property
    def static_files(self) -> dict[str, str]:
        """The files of static vectors by name: "static" for the first one that has no name, then "static2", ..."""
        named = [text.partition("=") if "=" in text else ("", "=", text) for text in self.static]
        default = (f"static{place if place > 1 else ''}" for place in range(1, len(named) + 1))
        return {name or usual: file for (name, _, file), usual in zip(named, default, strict=True)}


@dataclass(frozen=True)
class FileSettings(Settings):
    """How labelled files are read. The settings of a task's data derive from this."""

    encoding: str = "utf-8"
    """Encoding of the files."""
    errors: Literal["strict", "skip"] = "strict"
    """What to do with an example that can't be read. strict: stop with an error; skip: leave it out, and say how many
    were left out."""


@dataclass(frozen=True)
class LabelSettings(FileSettings):
    """File settings for data whose labels must occur in the training data."""

    unseen_labels: Literal["stop", "miss"] = "stop"
    """What to do with a label that isn't in the training data: stop with an error, or count it as missed."""


@dataclass(frozen=True)
class CharacterSettings(Settings):
    """The char CNN of a task's own model, in addition to static vectors and ELMo. Network settings derive from this."""

    character_filters: SizeOrNone = 0
    """Filters of the model's own char CNN, which is trained with the task; 0: no char CNN."""
    character_width: Size = 3
    """Width of a filter in characters."""
    character_vector: Size = 16
    """Dimensions of a character's vector."""


@dataclass(frozen=True)
class FitSettings(Settings):
    """How a model is trained."""

    epochs: Annotated[int, from_to(1, MOST_EPOCHS)] = 50
    """Maximum number of epochs."""
    epoch_passes: Annotated[int, from_to(1, MOST_EPOCHS)] = 1
    """Passes over the training data in an epoch. With little data, more than one avoids scoring the dev data after
    every few steps."""
    patience: NotNegativeInt = 5
    """Stop after this many epochs in a row without a better dev score, counted from the first score above 0 and, with
    train_bilm, from when its top layer is trained. 0: never stop early."""
    best_by: str = ""
    """The dev score that determines the best epoch, such as macro_f1 if one label is much more frequent than the
    others. Empty: the task's own metric."""
    batch_size: Annotated[int, from_to(1, 1 << 20)] = 32
    """Maximum number of examples in a batch. The examples in a batch have similar lengths."""
    least_batches: NotNegativeInt = 40
    """If there is so little training data that one pass would have fewer batches than this, batches are made smaller,
    down to 8 examples, because a model learns little from a few updates per epoch. 0: never make batches smaller."""
    batch_tokens: NotNegativeInt = 0
    """Maximum number of tokens in a batch, including padding; a longer example forms a batch by itself. 0: no limit."""
    max_length: NotNegativeInt = 0
    """Leave out training examples with a sentence of more tokens than this; dev and test examples are never left out.
    0: no limit."""
    optimizer: Literal["adam", "adamw", "adadelta", "adagrad", "sgd"] = "adam"
    """adam and adamw with betas 0.9 and 0.999; adadelta with rho 0.95; sgd without momentum."""
    adadelta_epsilon: Positive = 1e-6
    """adadelta: the constant added under the square roots. PyTorch uses 1e-6, TensorFlow 1e-8."""
    learning_rate: Positive = 0.001
    """The learning rate, before any decay."""
    decay: Literal["none", "halve", "linear", "slanted", "staircase"] = "none"
    """How the learning rate decays. none: it is constant; halve: it is halved after each epoch without a better dev
    score; linear: it falls to 0 at the end of the last epoch; slanted: it rises from a 32nd in the first tenth of all
    epochs, then falls to a 32nd; staircase: it is multiplied by decay_rate every decay_steps steps."""
    decay_rate: Share = 0.999
    """staircase: the factor."""
    decay_steps: PositiveInt = 100
    """staircase: number of steps between two decays."""
    weight_decay: NotNegative = 0.0
    """adamw: decoupled weight decay, subtracted from the weights; adam and the others: L2 penalty, added to the
    gradients. A task's model can exempt some of its weights."""
    clip_norm: NotNegative = 5.0
    """Maximum global norm of the gradients. 0: no clipping."""
    clip_value: NotNegative = 0.0
    """Maximum absolute value of each element of a gradient; applied before clip_norm. 0: no clipping."""
    average_decay: Annotated[float, Must("at least 0 and below 1", lambda value: 0 <= value < 1)] = 0.0
    """If above 0, for instance 0.999: score and save an exponential moving average of the weights instead of the
    weights; this is the fraction of the average that is kept in each step."""
    average_warmup: bool = True
    """Whether the average's decay rises from 0.1 to average_decay, so that the initial weights are soon forgotten;
    otherwise it is constant from the first step."""
    train_share: Share = 1.0
    """Fraction of the training examples to use. Smaller fractions are subsets of larger ones, and examples that belong
    together (such as questions about one article) stay together. The labels are always those of all examples."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute."""


@dataclass(frozen=True)
class TaskSettings:
    """All settings of a task. A task derives from this and adds its own groups."""

    tokens: TokenSettings = field(default_factory=TokenSettings)
    fit: FitSettings = field(default_factory=FitSettings)

    @property
    def own(self) -> Any:
        """The group that the task adds, of its data and network; of several, the first one."""
        return next((group for name, group in vars(self).items() if name not in ("tokens", "fit")), None)

    @property
    def gives_input(self) -> bool:
        """Whether the first layer has anything to read: static vectors, ELMo, or a char CNN of the task's own."""
        own = any(getattr(group, "character_filters", 0) for group in vars(self).values())
        return bool(self.tokens.static) or "input" in self.tokens.places or own


NO_INPUT = (
    "the model would read nothing: there are no static vectors, no ELMo at the input and no char CNN. Add one of them: "
    "--static FILE, --encoder elmo with --placement input or both, or --character-filters 128 (tasks with a char CNN)."
)


def to_table(settings: TaskSettings) -> dict[str, Any]:
    """A task's settings as one flat table, without their groups."""
    return {name: value for group in asdict(settings).values() for name, value in group.items()}


LEFT: dict[str, dict[str, Any]] = {
    "NerSettings": {"tagger_scheme": "bioul"},
    "SnliSettings": {"label_column": 1},
    "SrlSettings": {"finder_size": 64},
}
"""Settings that a task no longer has, with the default that it keeps to, by the class of its settings."""


def left_settings(settings: TaskSettings) -> dict[str, Any]:
    """Those of `LEFT` that models and runs of this task were saved with, and that still name their folders."""
    return {name: value for kind in type(settings).__mro__ for name, value in LEFT.get(kind.__name__, {}).items()}


def with_table(settings: S, table: dict[str, Any], source: str) -> S:
    """`settings` with the values of a flat table; unknown names and wrong types are ConfigErrors that name `source`."""
    groups = {group.name: getattr(settings, group.name) for group in fields(settings)}
    owner = {setting.name: name for name, group in groups.items() for setting in fields(group)}
    table = {name: value for name, value in table.items() if (name, value) not in left_settings(settings).items()}
    if unknown := sorted(set(table) - set(owner)):
        raise ConfigError(
            f"{source}: there is no setting {unknown[0]!r}. The settings are: {', '.join(owner)}. Fix the name or "
            "remove it."
        )
    try:
        for name, group in groups.items():
            own = {key: _like(getattr(group, key), table[key], key) for key in table if owner[key] == name}
            groups[name] = replace(group, **own)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None
    return replace(settings, **groups)


def _like(default: object, value: object, name: str) -> object:
    """`value` in the type of `default`: files have lists for tuples and 1 for 1.0, and one file needs no list."""
    if isinstance(default, tuple) and isinstance(value, str):
        return (value,) if value else ()
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(value)
    if type(default) is float and type(value) is int:
        return float(value)
    require_setting(type(value) is type(default), name, value, f"of the same type as {default!r}")
    return value
