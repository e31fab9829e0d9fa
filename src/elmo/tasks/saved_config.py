"""config.json of a saved task model: found and read without loading torch, so before anything else is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.disk.json_file import read_json
from elmo.disk.sums import what_changed
from elmo.errors import ConfigError, WeightFileError, paths_count_from
from elmo.tasks.registry import AnyTask, find, is_known
from elmo.tasks.settings import with_table

FORMAT_VERSION = 2
CONFIG_FILE = "config.json"
BILM_FOLDER = "bilm"
OTHER_BILM = "Train the task with a model of its language: elmo task train ... --model MODEL."
"""What helps where a text is in a language that the biLM of a saved model hasn't read."""

_MAX_BYTES = 1 << 26
_KEYS = {"format_version", "task", "settings", "vocabulary", "bilm", "num_trained_words", "metadata"}


def saved_folder(folder: Path | str) -> Path:
    """The model's folder: `folder` itself, or the model in a run folder. Raises WeightFileError if it is neither."""
    folder = Path(folder)
    inner = folder / "model"
    if (inner / CONFIG_FILE).is_file():
        return inner
    if not (folder / CONFIG_FILE).is_file():
        raise WeightFileError(
            f"{folder}: is {_what_it_is(folder)}. Pass the folder of a run of 'elmo task train' that has ended, "
            "or a model in it."
        )
    return folder


def _what_it_is(folder: Path) -> str:
    if not folder.exists():
        return f"not a task model: there is no such folder. {paths_count_from()}"
    return "an unfinished run" if (folder / "run.json").is_file() else "not a task model: config.json is missing"


def read_config(path: Path) -> dict[str, Any]:
    """config.json of a saved task model. Raises WeightFileError if it isn't one, or was changed since.

    The folders of elmo 0.1.0 have no checksums, and are believed.
    """
    config = read_json(path, limit=_MAX_BYTES)
    if "architecture" in config:
        raise WeightFileError(
            f"{path.parent}: is a biLM, and not a model of a task. To train one with it: elmo task train TASK --model "
            f"{path.parent} --train FILE -o RUN"
        )
    if config.get("format_version") != FORMAT_VERSION or set(config) != _KEYS:
        raise WeightFileError(
            f"{path}: isn't the config of a task model of format {FORMAT_VERSION} (its keys are {', '.join(config)}). "
            "Train the model again, or install the version of elmo that wrote it."
        )
    if changed := what_changed(path.parent):
        raise WeightFileError(f"{path.parent}: {changed} since the model was saved. Get it again, or train it again.")
    return config


@dataclass(frozen=True)
class SavedConfig:
    """What config.json of a saved task model says."""

    folder: Path
    task: AnyTask
    settings: Any
    values: dict[str, Any]
    """As in the file."""

    def bilm(self, model: str | None = None) -> str | None:
        """Where its biLM is: `model`, the folder's own, or the place it notes; None: it has none."""
        if self.values["bilm"] is None:
            return None
        own = self.folder / BILM_FOLDER
        return model or (str(own) if own.is_dir() else self.values["bilm"]["model"])


def saved_config(folder: Path | str, task: AnyTask | None = None) -> SavedConfig:
    """The config of a saved model, or of the model in a run folder. `task`: needed only if its own isn't installed.

    Raises as `saved_folder` and `read_config`, and ConfigError for a task that isn't installed, for another one than
    `task`, and for settings that the task doesn't have.
    """
    folder = saved_folder(folder)
    values = read_config(folder / CONFIG_FILE)
    name = values["task"]
    is_right = is_known(name) if task is None else task.name == name
    if not is_right:
        place = "--task package.module:TASK (in Python: load(folder, task=TASK))"
        step = "Load it without a task, or with its own" if task else f"Install its package, or name it with {place}"
        raise ConfigError(
            f"{folder}: is a model of the task {name!r}, which isn't {task.name if task else 'installed'}. {step}."
        )
    task = task or find(name)
    settings = with_table(task.settings(), values["settings"], str(folder / CONFIG_FILE))
    return SavedConfig(folder, task, settings, values)
