"""Settings of semantic role labeling; the defaults are for a CPU, configs/tasks/srl-paper.toml has the paper's."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from elmo.setting_checks import Chance, from_to
from elmo.tasks.settings import MOST_LAYERS, FileSettings, FitSettings, Size, TaskSettings, TokenSettings


@dataclass(frozen=True)
class LabelerSettings(FileSettings):
    """Data and network of the role labeler."""

    layout: Literal["auto", "conll2012", "conll2005", "props"] = "auto"
    """Columns of the files. conll2012: as in OntoNotes; conll2005: word, predicate or "-", one column per predicate;
    props: the same without words, only for scoring; auto: detected from the file."""
    num_layers: Annotated[int, from_to(1, MOST_LAYERS)] = 4
    """Layers of the LSTM, which alternate between left to right and right to left. The paper has 8."""
    hidden_size: Size = 128
    """Units of each layer. The paper has 300."""
    recurrent_dropout: Chance = 0.1
    """Dropout on the state that a layer passes from token to token, with one mask for all tokens of a sentence."""
    indicator_dim: Size = 50
    """Dimensions of the vector that indicates whether a token belongs to the predicate. The paper has 100."""
    find_predicates: bool = True
    """Whether a small biLSTM also learns which tokens are predicates, for text in which they are not marked. It doesn't
    affect the labeler's own network."""


@dataclass(frozen=True)
class SrlSettings(TaskSettings):
    """All settings of `elmo task train srl`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(elmo_dropout=0.1))
    fit: FitSettings = field(
        default_factory=lambda: FitSettings(epochs=12, patience=3, batch_size=80, max_length=100, decay="linear")
    )
    labeler: LabelerSettings = field(default_factory=LabelerSettings)
