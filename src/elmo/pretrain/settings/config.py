"""All settings of a pretraining run. The defaults are the paper's recipe for the published "original" model."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from elmo.config import (
    NUM_BYTE_CHARACTERS,
    PUBLISHED_FILTERS,
    Activation,
    BiLMConfig,
    Characters,
    Direction,
    filter_pairs,
)
from elmo.setting_checks import Chance, Must, NotNegative, NotNegativeInt, PositiveInt, Seed, Settings, require_setting

_LARGEST = 1_000_000
_Epochs = Annotated[float, Must("above 0 and at most a million", lambda value: 0 < value <= 1e6)]
_Cutoffs = Annotated[
    tuple[int, ...],
    Must("ascending vocabulary ids, each at least 1", lambda ids: all(a < b for a, b in pairwise((0, *ids)))),
]
_Probability = Annotated[float, Must("a probability from 0 to 1", lambda value: 0 <= value <= 1)]


@dataclass(frozen=True)
class PretrainConfig(Settings):
    """Architecture, recipe and housekeeping of one run; every field is a flag of `elmo pretrain`.

    A setting added later has the default that repeats what runs did before, so that old runs can be resumed.
    """

    direction: Direction = "both"
    """Which language models to train."""
    cell_size: int = 4096
    """Memory cells of each LSTM layer in each direction."""
    projection_size: int = 512
    """Dimensions of the token vectors and of each direction's output."""
    num_layers: int = 2
    """LSTM layers in each direction."""
    cell_clip: NotNegative = 3.0
    """Limit on the absolute value of a memory cell; 0: no limit."""
    projection_clip: NotNegative = 3.0
    """Limit on the absolute value of a projected output; 0: no limit."""
    skip_connections: bool = True
    """Whether upper LSTM layers add their input to their output."""
    characters: Characters = "bytes"
    """What the char CNN reads. bytes: the bytes of a token; dictionary: its characters, with ids from a dictionary made
    from the training text; none: there is no char CNN, and the model reads words."""
    max_character_dictionary: PositiveInt = 10_000
    """characters="dictionary": maximum number of characters in the dictionary; the most frequent ones get ids."""
    word_dim: NotNegativeInt = 0
    """Dimensions of word vectors. 0: projection_size for a model of words, and no word vectors for a model with a char
    CNN."""
    tie_softmax: bool = False
    """For a model of words: whether the word vectors are also the weights of the softmax (bilm-tf's
    share_embedding_softmax)."""
    character_dim: int = 16
    """Dimensions of a character's vector."""
    filters: tuple[tuple[int, int], ...] = PUBLISHED_FILTERS
    """The char CNN's filters as (width, number)."""
    num_highway: int = 2
    """Highway layers above the char CNN."""
    activation: Activation = "relu"
    """Non-linearity after the maximum over positions in the char CNN."""

    epochs: _Epochs = 10.0
    """Passes over the training data; the run ends at the window that completes them."""
    max_steps: NotNegativeInt = 0
    """End after this many steps, whatever `epochs` is; 0: no limit."""
    batch_size: PositiveInt = 128
    """Rows of a window, over all processes; each row has its own LSTM state."""
    unroll_steps: PositiveInt = 20
    """Tokens per row in a window; backpropagation through time doesn't go beyond the window."""
    softmax: Literal["sampled", "full", "adaptive"] = "sampled"
    """sampled: each target against a sample of words; full: against the whole vocabulary; adaptive: against the whole
    vocabulary, divided by frequency into clusters with smaller and smaller vectors (Grave et al. 2017)."""
    num_negative_samples: PositiveInt = 8192
    """Negatives of the sampled softmax, drawn for each step and direction."""
    softmax_cutoffs: _Cutoffs = ()
    """softmax="adaptive": the vocabulary ids at which the clusters of rarer words begin, for instance 2000 10000."""
    softmax_divisor: PositiveInt = 4
    """softmax="adaptive": the factor by which each cluster's vectors are smaller than those of the previous cluster."""
    state_reset: _Probability = 0.0
    """Probability that a row resets its state when a new sentence begins. bilm-tf never resets it; with 1, training
    matches embedding with `state="zero"`."""
    dropout: Chance = 0.1
    """Dropout on every LSTM layer's input and on the top output."""
    optimizer: Literal["adagrad", "adamw", "sgd"] = "adagrad"
    """adagrad: bilm-tf's (initial accumulator 1, no epsilon); adamw: with betas 0.9 and 0.98; sgd: without momentum."""
    learning_rate: Annotated[float, Must("above 0, or nothing is learned", lambda value: value > 0)] = 0.2
    """The peak learning rate."""
    warmup_steps: NotNegativeInt = 0
    """Steps over which the learning rate rises from 0."""
    decay: Literal["none", "linear"] = "none"
    """none: the learning rate is constant; linear: it falls to 0 at the last step of the run."""
    weight_decay: NotNegative = 0.0
    """adamw: weight decay."""
    lazy_rows: bool = False
    """adamw: whether rows of the sampled softmax and of word vectors, including their momentum and weight decay, are
    updated only in steps in which they occur. Rare words then learn more slowly at the same learning rate, but a step
    doesn't update the whole table, which saves time with about 50,000 words or more. It makes no difference for adagrad
    and sgd."""
    clip_norm: Annotated[float, Must("above 0, or no gradient is left", lambda value: value > 0)] = 10.0
    """Maximum global norm of the gradients."""
    sum_over_window: bool = True
    """Whether the gradients are those of unroll_steps times the mean loss, as in bilm-tf, or else those of the mean
    loss. This affects clip_norm and adagrad's accumulator."""
    product_dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the large matrix products; everything else stays in float32. bfloat16 is faster on GPUs and on
    processors that multiply it: AMD's with AVX-512 BF16, Intel's with AMX."""
    reduce_dtype: Literal["float32", "bfloat16"] = "float32"
    """With several processes: precision of the gradients that they exchange; bfloat16 halves the traffic by
    rounding."""

    seed: Seed = 0
    """Random seed of initial weights, shuffling, dropout and negatives."""
    log_every: PositiveInt = 100
    """Steps between two lines of metrics.jsonl."""
    evaluate_every: NotNegativeInt = 5000
    """Steps between two evaluations on the validation text; 0: only at the end."""
    evaluation_sentences: NotNegativeInt = 2000
    """Number of validation sentences for these evaluations; the one at the end uses all. 0: always all."""
    save_every: PositiveInt = 1250
    """Steps between two checkpoints; one is always written at the end."""
    keep_checkpoints: PositiveInt = 2
    """Number of checkpoints to keep, the newest ones."""
    keep_best: bool = True
    """Whether to also keep the checkpoint with the lowest validation perplexity, as checkpoints/best. So it is kept
    with `patience`."""
    patience: NotNegativeInt = 0
    """End after this many evaluations in a row, each after `evaluate_every` steps, without a lower validation
    perplexity; the finished model is then that of the best checkpoint. 0: train to the last step."""
    on_nan: Literal["stop", "skip"] = "stop"
    """What to do if a loss or gradient is not finite (NaN or inf). stop: end the run and save the state from before the
    step; skip: skip the step."""
    max_skipped_steps: PositiveInt = 10
    """on_nan="skip": end the run after this many skipped steps in a row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", filter_pairs(self.filters))
        super().__post_init__()
        object.__setattr__(self, "softmax_cutoffs", tuple(self.softmax_cutoffs))
        fits = self.characters == "none" and self.word_vector_size == self.projection_size
        can_tie = fits and self.softmax != "adaptive"
        expected = "false unless characters is 'none', word_dim projection_size, and softmax sampled or full"
        require_setting(can_tie or not self.tie_softmax, "tie_softmax", self.tie_softmax, expected)
        self.architecture(_LARGEST)  # which refuses sizes that no model has

    @property
    def word_vector_size(self) -> int:
        """Width of a word's vector; 0: the model has none."""
        return self.word_dim or (self.projection_size if self.characters == "none" else 0)

    def softmax_clusters(self, vocabulary_size: int) -> list[tuple[int, int]]:
        """(words, width) of each cluster of an adaptive softmax, else none. ConfigError if one would be empty."""
        if self.softmax != "adaptive":
            return []
        cutoffs = self.softmax_cutoffs
        expected = f"some vocabulary ids below {vocabulary_size} where softmax is adaptive"
        require_setting(0 < max(cutoffs, default=0) < vocabulary_size, "softmax_cutoffs", cutoffs, expected)
        sizes = [end - begin for begin, end in pairwise((*cutoffs, vocabulary_size))]
        return [
            (size, max(1, self.projection_size // self.softmax_divisor**depth)) for depth, size in enumerate(sizes, 1)
        ]

    def architecture(
        self, max_characters_per_token: int, num_characters: int = NUM_BYTE_CHARACTERS, vocabulary_size: int = 1
    ) -> BiLMConfig:
        """The biLM's config.

        The arguments come from the data: `num_characters` for a dictionary of characters, `vocabulary_size` for a
        model that reads words.
        """
        word_dim = self.word_vector_size
        return BiLMConfig(
            characters=self.characters,
            num_characters=num_characters,
            max_characters_per_token=max_characters_per_token,
            character_dim=self.character_dim,
            filters=self.filters,
            activation=self.activation,
            num_highway=self.num_highway,
            token_projection=self.characters != "none" or word_dim != self.projection_size,
            num_words=vocabulary_size + 1 if word_dim else 0,
            word_dim=word_dim,
            cell_size=self.cell_size,
            projection_size=self.projection_size,
            num_layers=self.num_layers,
            cell_clip=self.cell_clip or None,
            projection_clip=self.projection_clip or None,
            skip_connections=self.skip_connections,
            direction=self.direction,
        )
