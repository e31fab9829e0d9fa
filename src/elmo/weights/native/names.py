"""The files of a model folder in our own format.

config.json            architecture, format version, where the weights came from and the hash of that source; SHA-256 of
                       the architecture, vocab.txt and tokens.json (the tensors' files have theirs inside)
model.safetensors      every tensor by its name in `BiLM.state_dict()`
vocab.txt              the words the language model predicts, one per line, in the order of the softmax rows
tokens.json            only if the model reads more than bytes: its character dictionary and its word list
softmax.safetensors    optional: `weight` (vocabulary, projection_size), `bias` (vocabulary,)
warm_state.safetensors optional: the fixed state that `state="warm"` starts from
README.md              model card
"""

from pathlib import Path

from elmo.disk.bounded import is_file

CONFIG_FILE = "config.json"
MODEL_FILE = "model.safetensors"
VOCABULARY_FILE = "vocab.txt"
TOKENS_FILE = "tokens.json"
SOFTMAX_FILE = "softmax.safetensors"
WARM_STATE_FILE = "warm_state.safetensors"
CARD_FILE = "README.md"
MODEL_FOLDER_FILES = frozenset(
    (CONFIG_FILE, MODEL_FILE, VOCABULARY_FILE, TOKENS_FILE, SOFTMAX_FILE, WARM_STATE_FILE, CARD_FILE)
)

RUN_MODEL = "model"
"""The model folder in the folder of a pretraining run."""


def model_folder(path: Path) -> Path | None:
    """The model folder that `path` is, or has in it if it is the folder of a run; None: neither."""
    for folder in (path, path / RUN_MODEL):
        if is_file(folder / MODEL_FILE) and (folder == path or is_file(folder / CONFIG_FILE)):
            return folder
    return None
