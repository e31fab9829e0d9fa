"""Checkpoint -> a model folder in our own format."""

from pathlib import Path

from elmo.disk.atomic import new_folder
from elmo.disk.json_file import write_json
from elmo.setting_checks import require_value
from elmo.text.word_list import encoded_word_list
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.facts import byte_map, facts_of
from elmo.weights.native.names import (
    CONFIG_FILE,
    MODEL_FILE,
    MODEL_FOLDER_FILES,
    SOFTMAX_FILE,
    TOKENS_FILE,
    VOCABULARY_FILE,
    WARM_STATE_FILE,
)
from elmo.weights.native.tensor_file import StoredType, write_tensors
from elmo.weights.soundness import require_sound


def write(checkpoint: Checkpoint, folder: Path, *, dtype: StoredType = "float32", force: bool = False) -> None:
    """Writes the model folder; it appears whole or not at all.

    `dtype`: how the network's and the softmax's tensors are stored; they are float32 again when read. bfloat16 and int8
    are for computing in that type, which then changes no vector: the token encoder's matrices are bfloat16 in both,
    those of the LSTMs and the softmax `dtype`, all else float32. A softmax computes in float32: rounded to int8,
    that of small-en has a perplexity of 73.33 in place of 73.31. With `force` an existing model folder is replaced.
    Raises OutputError (the folder exists, the disk is full), WeightFileError (the checkpoint contradicts itself),
    ConfigError (float16 can't hold a value), TextError (a word fits no line).
    """
    require_value("dtype", dtype, StoredType)
    require_sound(checkpoint)
    parts = {MODEL_FILE: checkpoint.tensors, SOFTMAX_FILE: checkpoint.softmax, WARM_STATE_FILE: checkpoint.warm_state}
    size = sum(tensor.nbytes for tensors in parts.values() if tensors for tensor in tensors.values())
    size = size if dtype == "float32" else size // 2  # at most
    with new_folder(Path(folder), size=size, force=force, replaceable=MODEL_FOLDER_FILES) as unfinished:
        for name, tensors in parts.items():
            if tensors is not None:
                types: dict[str, StoredType] = {key: stored_type(name, key, dtype) for key in tensors}
                write_tensors(unfinished / name, tensors, types=types)
        if checkpoint.vocabulary is not None:
            (unfinished / VOCABULARY_FILE).write_bytes(encoded_word_list(checkpoint.vocabulary))
        if checkpoint.token_map != byte_map(checkpoint.config):
            write_json(unfinished / TOKENS_FILE, checkpoint.token_map.to_dict(), indent=None)
        write_json(unfinished / CONFIG_FILE, facts_of(checkpoint, unfinished))


def stored_type(file: str, name: str, dtype: StoredType) -> StoredType:
    """What a tensor of a model stored as `dtype` is stored as."""
    if dtype == "float32" or file == WARM_STATE_FILE:
        return "float32"
    if dtype == "float16":
        return dtype
    if file == SOFTMAX_FILE:
        return dtype if name.endswith(("weight", "projection")) else "float32"
    if not name.endswith("weight"):  # biases and embeddings, which are no factors of products
        return "float32"
    return dtype if "_lstm." in name else "bfloat16"
