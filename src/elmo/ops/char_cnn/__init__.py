"""Convolutions over a token's characters, and the maximum over positions: `elmo.reference.char_cnn` in torch."""

from elmo.ops.char_cnn.windows import CharacterVectors, activate, best_windows, character_vectors

__all__ = ["CharacterVectors", "activate", "best_windows", "character_vectors"]
