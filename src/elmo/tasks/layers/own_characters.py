"""The char CNN of a task's own model, as its settings say: of one width with padding, or of windows of several widths.

Source: Ma and Hovy 2016 for taggers and classifiers; Clark and Gardner 2018 and Lee et al. 2017 for the windows.
"""

from collections.abc import Sequence
from typing import Protocol

from elmo.tasks.layers.char_cnn import CharacterCNN
from elmo.tasks.layers.char_windows import CharacterWindows
from elmo.tasks.settings import CharacterSettings
from elmo.tasks.task import Vocabulary


def own_characters(settings: CharacterSettings, vocabulary: Vocabulary) -> CharacterCNN | None:
    """A new char CNN over the "characters" of the vocabulary; None if the settings have no filters."""
    if not settings.character_filters:
        return None
    return CharacterCNN(
        vocabulary["characters"],
        dim=settings.character_vector,
        filters=settings.character_filters,
        width=settings.character_width,
    )


class WindowSettings(Protocol):
    """The settings of a model that reads windows of characters."""

    @property
    def character_filters(self) -> int:
        """Filters of each width; 0: no char CNN."""
        ...

    @property
    def character_vector(self) -> int:
        """Dimensions of a character's vector."""
        ...


def own_windows(
    settings: WindowSettings,
    vocabulary: Vocabulary,
    widths: Sequence[int],
    *,
    max_characters: int = 0,
    dropout: float = 0.0,
) -> CharacterWindows | None:
    """New filters of these widths over the "characters" of the vocabulary; None if the settings have no filters.

    `max_characters`, `dropout`: see `CharacterWindows`.
    """
    if not settings.character_filters:
        return None
    return CharacterWindows(
        vocabulary["characters"],
        dim=settings.character_vector,
        filters=settings.character_filters,
        widths=widths,
        max_characters=max_characters,
        dropout=dropout,
    )
