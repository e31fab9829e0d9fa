"""Settings of the sequence autoencoder."""

from dataclasses import dataclass, field
from typing import Annotated

from elmo.setting_checks import NotNegativeInt, from_to
from elmo.tasks.settings import FileSettings, FitSettings, TaskSettings, TokenSettings


@dataclass(frozen=True)
class AutoencoderSettings(FileSettings):
    """Data and softmax of the autoencoder."""

    num_words: Annotated[int, from_to(1, 10_000_000)] = 10_000
    """How many words can be reproduced: the most frequent ones of the training data. All others are one unknown
    word."""
    num_negative_samples: NotNegativeInt = 1024
    """How many words each token is compared with in a training step; they are drawn for each step. 0: all words."""


@dataclass(frozen=True)
class AutoencoderTaskSettings(TaskSettings):
    """All settings of `elmo task train autoencoder`; the language model begins anew unless `new_bilm` is off."""

    tokens: TokenSettings = field(
        default_factory=lambda: TokenSettings(
            layers="top", train_gamma=False, elmo_dropout=0.0, train_bilm=True, new_bilm=True
        )
    )
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=5, patience=0, decay="linear"))
    autoencoder: AutoencoderSettings = field(default_factory=AutoencoderSettings)
