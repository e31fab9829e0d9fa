"""Settings of question answering; the defaults follow the paper's model, except where a CPU is too slow."""

from dataclasses import dataclass, field
from typing import Literal

from elmo.setting_checks import Chance, NotNegativeInt
from elmo.tasks.settings import FileSettings, FitSettings, Size, SizeOrNone, TaskSettings, TokenSettings


@dataclass(frozen=True)
class ReaderSettings(FileSettings):
    """Data and network of the reader."""

    unanswerable: Literal["stop", "skip"] = "stop"
    """What to do with a question that has no answer, as in SQuAD 2.0: stop with an error, or leave it out and say how
    many there are."""
    question_tokenizer: Literal["unicode", "whitespace"] = "unicode"
    """How questions and passages are split into tokens; offsets into the passage are kept in either case."""
    split_hyphens: bool = True
    """Whether tokens are also split at hyphens, slashes, dashes and currency signs, so that "18th" in "mid-18th" can be
    an answer."""
    plain_quotes: bool = True
    """Whether the model reads curly quotes as straight ones and long dashes as "--", as in the biLM's training text.
    Answers are always exact pieces of the passage in the file."""
    target: Literal["random", "first", "majority"] = "random"
    """Which gold answer is the target if a question has several. random: one drawn at random in each step; first: the
    first one; majority: the one that most annotators gave."""
    max_answer_tokens: Size = 17
    """Maximum length of a predicted answer in tokens."""
    hidden_size: Size = 90
    """Hidden units of each GRU in each direction."""
    dropout: Chance = 0.2
    """Dropout on the input and output of the GRUs, with one mask for all tokens of a passage, and on character vectors,
    with independent masks."""
    character_filters: SizeOrNone = 100
    """Filters of the char CNN; 0: no char CNN."""
    character_width: Size = 5
    """Width of a filter in characters."""
    character_vector: Size = 20
    """Dimensions of a character's vector."""
    min_character_count: NotNegativeInt = 5
    """How often a character must occur in the training data to get its own vector."""
    max_characters: Size = 14
    """Maximum number of characters of a token that are read."""


@dataclass(frozen=True)
class SquadSettings(TaskSettings):
    """All settings of `elmo task train squad`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(placement="both", mix_penalty=0.0))
    fit: FitSettings = field(
        default_factory=lambda: FitSettings(
            epochs=12, patience=3, batch_size=32, max_length=400, clip_norm=0.0, average_decay=0.99
        )
    )
    reader: ReaderSettings = field(default_factory=ReaderSettings)
