"""Settings of a task's training where no flag says otherwise: the task's own, a begun run's, a TOML file's."""

import json
import tomllib
from pathlib import Path
from typing import Any

from elmo.errors import ConfigError
from elmo.tasks.settings import with_table
from elmo.tasks.task import default_settings


def settings_beneath(task: str, config: Path | None, begun: Path | None) -> Any:
    """The settings of `task` with those noted in `begun`, then those of the TOML file `config`.

    `begun`: file of a run that is resumed. Raises ConfigError for files that are missing or no such files.
    """
    settings = default_settings(task)
    if begun is not None:
        if not begun.is_file():
            raise ConfigError(f"{begun}: is missing, so there is no run to resume. Start it without --resume.")
        noted = json.loads(begun.read_text(encoding="utf-8"))
        if noted["task"] != task:
            raise ConfigError(f"{begun}: is of the task {noted['task']!r}, not {task!r}. Name that task.")
        settings = with_table(settings, noted["settings"], str(begun))
    if config is not None:
        settings = with_table(settings, _table(config), str(config))
    return settings


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file. Paths count from {Path.cwd()}. Check it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no TOML file: {error}. Each line is: setting = value") from None
