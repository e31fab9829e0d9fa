"""The settings of fine-tuning: the recipe alone, since the architecture comes from the model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import accumulate
from typing import Any, Literal

from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.pretrain.settings.config import PretrainConfig
from elmo.setting_checks import NotNegativeInt, Seed, Settings


@dataclass(frozen=True)
class FinetuneConfig(Settings):
    """One epoch with a rate of its own; every field is a flag of `elmo finetune`.

    The original continues for one epoch with Adagrad's rate of 0.2 and restored accumulators (docs/specification.md,
    6.8), which published models come without; these defaults were found by the experiments in dev/LOG.md.
    """

    epochs: float = 1.0
    """Passes over the training data."""
    max_steps: int = 0
    """End after this many steps, whatever `epochs` is; 0: no limit."""
    learning_rate: float = 0.001
    """The peak learning rate. With a lower one, the model forgets less of the old domain and learns less of the new
    one."""
    warmup_steps: int = 20
    """Steps over which the learning rate rises from 0."""
    decay: Literal["none", "linear"] = "linear"
    """none: the learning rate is constant; linear: it falls to 0 at the last step."""
    optimizer: Literal["adagrad", "adamw"] = "adamw"
    """As for `elmo pretrain`."""
    batch_size: int = 32
    """Rows of a window; each row has its own LSTM state."""
    unroll_steps: int = 20
    """Tokens per row in a window; backpropagation through time doesn't go beyond the window."""
    num_negative_samples: int = 2048
    """Negatives of the sampled softmax; at most half of the vocabulary is used."""
    state_reset: float = 0.9
    """Probability that a row resets its state when a new sentence begins; with 1, training matches embedding with
    `state="zero"`."""
    dropout: float = 0.1
    """Dropout on every LSTM layer's input and on the top output."""
    clip_norm: float = 1.0
    """Maximum global norm of the gradients."""
    product_dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the large matrix products; everything else stays in float32. bfloat16 is faster on GPUs and on
    processors that multiply it: AMD's with AVX-512 BF16, Intel's with AMX."""

    seed: Seed = 0
    """Random seed of shuffling, dropout and negatives."""
    log_every: int = 20
    """Steps between two lines of metrics.jsonl."""
    evaluate_every: int = 0
    """Steps between two evaluations on the validation text; 0: only before and after the training."""
    evaluation_sentences: int = 2000
    """Number of validation sentences for these evaluations. 0: all."""
    comparison_sentences: NotNegativeInt = 0
    """Number of sentences of each held-out text, evenly spaced, for the comparison before and after. 0: all."""
    save_every: int = 200
    """Steps between two checkpoints."""
    keep_checkpoints: int = 2
    """Number of checkpoints to keep, the newest ones."""
    on_nan: Literal["stop", "skip"] = "stop"
    """What to do if a loss or gradient is not finite (NaN or inf). stop: end the run and save the state from before the
    step; skip: skip the step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # The other settings have the same meaning in pretraining, and are checked there.
        PretrainConfig(**self._recipe())

    def pretraining(
        self,
        architecture: BiLMConfig,
        vocabulary_size: int,
        clusters: Sequence[tuple[int, int]] = (),
        *,
        tied: bool = False,
    ) -> PretrainConfig:
        """The pretraining run that continues a model. ConfigError if pretraining knows no such architecture.

        `clusters`: (words, width) of each cluster of an adaptive softmax; `tied`: whether the softmax's weights are the
        words' vectors.
        """
        known = {field.name for field in fields(PretrainConfig)}
        # "No bound" is 0 in PretrainConfig, None in BiLMConfig.
        shape = {name: 0 if value is None else value for name, value in asdict(architecture).items() if name in known}
        recipe = self._recipe()
        recipe["num_negative_samples"] = max(1, min(self.num_negative_samples, vocabulary_size // 2))
        config = PretrainConfig(**{**recipe, **shape, **self._softmax(architecture, vocabulary_size, clusters, tied)})
        built = config.architecture(architecture.max_characters_per_token, architecture.num_characters, vocabulary_size)
        if built != architecture:
            differ = (name for name, value in vars(built).items() if value != getattr(architecture, name))
            name = next(differ)
            raise ConfigError(
                f"the model's {name} is {getattr(architecture, name)!r}, but training only builds models with "
                f"{getattr(built, name)!r}. Fine-tune a model that 'elmo pretrain' made."
            )
        return config

    def _softmax(
        self, architecture: BiLMConfig, vocabulary_size: int, clusters: Sequence[tuple[int, int]], tied: bool
    ) -> dict[str, Any]:
        if not clusters:
            return {"tie_softmax": tied}
        first = vocabulary_size - sum(words for words, _ in clusters)
        cutoffs = list(accumulate((words for words, _ in clusters[:-1]), initial=first))
        # Where rounding hides the divisor, another one that gives the same widths.
        divisor = architecture.projection_size // clusters[0][1]
        return {"softmax": "adaptive", "softmax_cutoffs": cutoffs, "softmax_divisor": divisor}

    def _recipe(self) -> dict[str, Any]:
        own = {name: value for name, value in asdict(self).items() if name != "comparison_sentences"}
        # The mean over the window, not bilm-tf's sum: so is the rate.
        return {**own, "sum_over_window": False}
