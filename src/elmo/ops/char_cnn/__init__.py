"""Convolutions over a token's characters, and the maximum over positions."""

from elmo.ops.char_cnn.reference import activate, char_cnn_reference
from elmo.ops.char_cnn.windows import CharacterVectors, best_windows, character_vectors

__all__ = ["CharacterVectors", "activate", "best_windows", "char_cnn_reference", "character_vectors"]
