"""A model folder in our own format -> Checkpoint."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from elmo.config import BiLMConfig
from elmo.disk.bounded import understood
from elmo.errors import WeightFileError
from elmo.text.word_list import word_list_bytes, words_in
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.facts import read_facts, read_token_map, require_hashes
from elmo.weights.native.names import (
    CONFIG_FILE,
    MODEL_FILE,
    SOFTMAX_FILE,
    TOKENS_FILE,
    VOCABULARY_FILE,
    WARM_STATE_FILE,
)
from elmo.weights.native.narrow import NarrowTensors
from elmo.weights.native.tensor_file import read_held, read_tensors, widened
from elmo.weights.shapes import network_shapes, softmax_shapes, state_shapes
from elmo.weights.soundness import require_consistent


def read_vocabulary(folder: Path) -> list[str] | None:
    """The words that the model of a folder predicts, the most frequent first; None if it has no such list."""
    held = held_vocabulary(folder)
    return None if held is None else held()


def held_vocabulary(folder: Path) -> Callable[[], list[str]] | None:
    """What makes `read_vocabulary` of the file as it is now, whatever becomes of it. Raises TextError."""
    path = Path(folder) / VOCABULARY_FILE
    return partial(words_in, word_list_bytes(path), path) if os.path.lexists(path) else None


def read(folder: Path, *, with_softmax: bool = True, narrow: bool = False) -> Checkpoint:
    """Reads a model folder. Raises WeightFileError, ConfigError for its architecture, or TextError for its
    vocab.txt; all name the file.

    `with_softmax`: False leaves out what only the language model needs, softmax and vocabulary, to save time.
    `narrow`: keeps tensors in as few bits as they are stored in, to save memory; each access widens one again.
    """
    folder = Path(folder)
    facts = read_facts(folder / CONFIG_FILE)
    with understood(folder / CONFIG_FILE, WeightFileError, "The file was edited or damaged. Get the model again."):
        config = BiLMConfig.from_dict(facts["architecture"], source="architecture")
        origin = str(facts["source_format"]), str(facts["source_hash"]), dict(facts["metadata"])
    held = read_held(folder / MODEL_FILE, lambda _: network_shapes(config), asked_by=CONFIG_FILE)
    softmax, warm_state = folder / SOFTMAX_FILE, folder / WARM_STATE_FILE
    checkpoint = Checkpoint(
        config,
        NarrowTensors(held) if narrow else widened(held),
        read_token_map(folder / TOKENS_FILE, config),
        read_vocabulary(folder) if with_softmax else None,
        read_tensors(softmax, lambda found: softmax_shapes(found, config), asked_by=CONFIG_FILE)
        if with_softmax and os.path.lexists(softmax)
        else None,
        read_tensors(warm_state, lambda _: state_shapes(config), asked_by=CONFIG_FILE)
        if os.path.lexists(warm_state)
        else None,
        *origin,
    )
    require_consistent(checkpoint, source=str(folder))
    with understood(folder / CONFIG_FILE, WeightFileError, "The file was edited or damaged. Get the model again."):
        require_hashes(facts, folder)
    return checkpoint
