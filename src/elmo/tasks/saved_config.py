"""config.json of a saved task model: found and read without loading torch, so before anything else is."""

from pathlib import Path
from typing import Any

from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError

FORMAT_VERSION = 2
CONFIG_FILE = "config.json"
CONFIG_KEYS = ("format_version", "task", "settings", "vocabulary", "bilm", "num_trained_words", "metadata")

_MAX_BYTES = 1 << 26


def saved_folder(folder: Path | str) -> Path:
    """The model's folder: `folder` itself, or the model in a run folder. Raises WeightFileError if it is neither."""
    folder = Path(folder)
    inner = folder / "model"
    if (inner / CONFIG_FILE).is_file():
        return inner
    if not (folder / CONFIG_FILE).is_file():
        what = "an unfinished run" if (folder / "run.json").is_file() else "no task model: config.json is missing"
        raise WeightFileError(
            f"{folder}: is {what}. Pass the folder of a run of 'elmo task train' that has ended, or a model in it."
        )
    return folder


def read_config(path: Path) -> dict[str, Any]:
    """config.json of a saved task model. Raises WeightFileError if it is that of something else."""
    config = read_json(path, limit=_MAX_BYTES)
    if config.get("format_version") != FORMAT_VERSION or set(config) != set(CONFIG_KEYS):
        raise WeightFileError(
            f"{path}: isn't the config of a task model of format {FORMAT_VERSION} (its keys are {', '.join(config)}): "
            "another version of elmo wrote it, or it is something else. Train the model again, or install the version "
            "that wrote it."
        )
    return config
