"""Everything a pretraining run is told. The defaults are the paper's recipe for the published "original" model."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from elmo.config import PUBLISHED_FILTERS, Activation, BiLMConfig
from elmo.errors import ConfigError


@dataclass(frozen=True)
class PretrainConfig:
    """Architecture, recipe and housekeeping of one run; every field is a flag of `elmo pretrain`."""

    cell_size: int = 4096
    """Memory cells of each LSTM layer and direction."""
    projection_size: int = 512
    """Width of token vectors and of each direction's output."""
    num_layers: int = 2
    """LSTM layers of each direction."""
    cell_clip: float = 3.0
    """Bound on a memory cell's absolute value; 0 for no bound."""
    projection_clip: float = 3.0
    """Bound on a projected output's absolute value; 0 for no bound."""
    skip_connections: bool = True
    """Whether upper LSTM layers add their input to their output."""
    character_dim: int = 16
    """Width of a character's vector."""
    filters: tuple[tuple[int, int], ...] = PUBLISHED_FILTERS
    """The char CNN's filters as (width, number)."""
    num_highway: int = 2
    """Highway layers above the char CNN."""
    activation: Activation = "relu"
    """Non-linearity after the char CNN's maximum."""

    epochs: float = 10.0
    """Passes over the training data; the run ends at the window that completes them."""
    max_steps: int = 0
    """End after this many steps, whatever `epochs` says; 0: no such end."""
    batch_size: int = 128
    """Rows of a window; each carries its own LSTM state."""
    unroll_steps: int = 20
    """Tokens of a window: backpropagation through time ends at its beginning."""
    num_negative_samples: int = 8192
    """Negatives of the sampled softmax, drawn anew for each step and direction."""
    state_reset: float = 0.0
    """Chance that a row forgets its state when a new sentence begins. bilm-tf never forgets; 1 trains what
    `state="zero"` embeds."""
    dropout: float = 0.1
    """On every LSTM layer's input and on the top output."""
    optimizer: Literal["adagrad", "adamw"] = "adagrad"
    """adagrad: bilm-tf's (initial accumulator 1, no epsilon). adamw: betas 0.9, 0.98."""
    learning_rate: float = 0.2
    """At its highest."""
    warmup_steps: int = 0
    """Steps over which the rate rises from 0."""
    decay: Literal["none", "linear"] = "none"
    """none: the rate stays; linear: it falls to 0 at the run's last step."""
    weight_decay: float = 0.0
    """adamw only."""
    clip_norm: float = 10.0
    """Bound on the norm of all gradients together."""
    sum_over_window: bool = True
    """bilm-tf differentiates unroll_steps times the mean loss, which clip_norm and adagrad's accumulator feel."""
    product_dtype: Literal["float32", "bfloat16"] = "float32"
    """Type of the factors of the large matrix products; everything else stays float32."""

    seed: int = 0
    """Of initial weights, shuffling, dropout and negatives."""
    log_every: int = 100
    """Steps between two lines of metrics.jsonl."""
    evaluate_every: int = 5000
    """Steps between two perplexities on the validation text; 0: only at the end."""
    evaluation_sentences: int = 2000
    """How many validation sentences those take; the one at the end takes all. 0: all, always."""
    save_every: int = 1250
    """Steps between two checkpoints; one is always kept at the end."""
    keep_checkpoints: int = 2
    """How many of the newest checkpoints stay."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple((int(width), int(count)) for width, count in self.filters))
        for name, annotation in (("optimizer", ("adagrad", "adamw")), ("decay", ("none", "linear")),
                                 ("product_dtype", ("float32", "bfloat16")), ("activation", get_args(Activation))):
            if getattr(self, name) not in annotation:
                raise ConfigError(f"{name} is {getattr(self, name)!r}, but must be one of {', '.join(annotation)}.")
        for name in ("batch_size", "unroll_steps", "num_negative_samples", "log_every", "save_every",
                     "keep_checkpoints"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, but must be 1 or more.")
        for name in ("max_steps", "warmup_steps", "weight_decay", "evaluate_every", "cell_clip", "projection_clip"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}, but must be 0 or more.")
        for name in ("epochs", "learning_rate", "clip_norm"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is {getattr(self, name)}, but must be more than 0.")
        if not 0 <= self.state_reset <= 1:
            raise ConfigError(f"state_reset is {self.state_reset}, but must be from 0 to 1: it is a chance.")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout is {self.dropout}, but must be from 0 to below 1.")

    def architecture(self, max_characters_per_token: int) -> BiLMConfig:
        """The biLM's config."""
        return BiLMConfig(
            max_characters_per_token=max_characters_per_token,
            character_dim=self.character_dim,
            filters=self.filters,
            activation=self.activation,
            num_highway=self.num_highway,
            cell_size=self.cell_size,
            projection_size=self.projection_size,
            num_layers=self.num_layers,
            cell_clip=self.cell_clip or None,
            projection_clip=self.projection_clip or None,
            skip_connections=self.skip_connections,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "filters": [list(pair) for pair in self.filters]}

    @classmethod
    def from_dict(cls, values: dict[str, Any], source: str) -> "PretrainConfig":
        """From a TOML or JSON table; unknown keys are errors that name `source`."""
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise ConfigError(f"{source}: unknown setting {unknown[0]!r}. The settings are: {', '.join(known)}.")
        try:
            return cls(**values)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{source}: {error}") from None
