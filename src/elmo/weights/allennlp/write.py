"""Checkpoint -> the published format, options.json + weights.hdf5, for AllenNLP and bilm-tf."""

from pathlib import Path

from elmo.disk.atomic import new_folder
from elmo.disk.json_file import write_json
from elmo.errors import ConfigError
from elmo.text.word_list import encoded_word_list
from elmo.weights.allennlp.hdf5 import write_hdf5
from elmo.weights.allennlp.names import (
    OPTIONS_FILE,
    SOFTMAX_DATASETS,
    SOFTMAX_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    name_table,
)
from elmo.weights.allennlp.options import options_of
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.soundness import require_sound


def write(checkpoint: Checkpoint, folder: Path, *, force: bool = False) -> None:
    """Writes options.json and weights.hdf5, and vocab.txt and softmax.hdf5 if the checkpoint has them.

    The folder appears whole or not at all. Raises ConfigError if the format can't hold the model, WeightFileError if
    the checkpoint contradicts itself, OutputError if the folder exists (without `force`) or the disk is full.
    """
    _require_expressible(checkpoint)
    require_sound(checkpoint)
    arrays = {
        entry.dataset: entry.layout.to_array(*(checkpoint.tensors[name] for name in entry.tensors))
        for entry in name_table(checkpoint.config)
    }
    softmax = checkpoint.softmax or {}
    size = sum(array.nbytes for array in [*arrays.values(), *softmax.values()])
    files = frozenset((OPTIONS_FILE, WEIGHTS_FILE, SOFTMAX_FILE, VOCABULARY_FILE))
    with new_folder(Path(folder), size=size, force=force, replaceable=files) as unfinished:
        write_json(unfinished / OPTIONS_FILE, options_of(checkpoint.config))
        write_hdf5(unfinished / WEIGHTS_FILE, arrays)
        if (words := _rows_of(checkpoint)) is not None:
            (unfinished / VOCABULARY_FILE).write_bytes(encoded_word_list(words))
        if softmax:
            write_hdf5(unfinished / SOFTMAX_FILE, {SOFTMAX_DATASETS[name]: softmax[name] for name in softmax})


def _require_expressible(checkpoint: Checkpoint) -> None:
    """Raises ConfigError, naming what the format can't express, if the model can't be written."""
    config, word_map = checkpoint.config, checkpoint.token_map.words
    rows = {word: row for row, word in enumerate(_rows_of(checkpoint) or (), start=1)}
    obstacles = {
        "it reads characters of a dictionary, not bytes": config.characters == "dictionary",
        "it reads words beside characters": config.has_words and config.has_characters,
        f"it has only the {config.direction} direction": config.direction != "both",
        "it projects its word vectors": not config.has_characters and config.token_projection,
        f"its forget_bias is {config.forget_bias}, the format's readers always add 1": config.forget_bias != 1,
        "its words don't fill the rows of its word vectors": word_map is not None and rows != dict(word_map.words),
        "its softmax is adaptive": not set(checkpoint.softmax or {}) <= set(SOFTMAX_DATASETS),
    }
    if found := [reason for reason, holds in obstacles.items() if holds]:
        raise ConfigError(
            f"AllenNLP and bilm-tf can't read such a model: {'; '.join(found)}. Keep it in the native format."
        )


def _rows_of(checkpoint: Checkpoint) -> list[str] | None:
    """The words of vocab.txt: of the word vectors' rows if the model reads words, else of the softmax's."""
    word_map = checkpoint.token_map.words
    if word_map is None:
        return checkpoint.vocabulary
    return checkpoint.vocabulary or sorted(word_map.words, key=lambda word: word_map.words[word])
