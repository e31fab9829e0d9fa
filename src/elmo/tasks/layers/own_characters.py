"""The char CNN of a task's own model, as its settings say."""

from elmo.tasks.layers.char_cnn import CharacterCNN
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
