"""Settings of a task where no flag gives them: the task's own, those of a resumed run, those of a TOML file."""

import json
import tomllib
from pathlib import Path
from typing import Any

from elmo.errors import ConfigError
from elmo.tasks.settings import S, with_table
from elmo.tasks.task import E, P, Task


def settings_beneath(task: Task[S, E, P], config: Path | None, begun: Path | None) -> S:
    """The settings of `task` with those noted in `begun`, then those of the TOML file `config`.

    `begun`: file of a run that is resumed. Raises ConfigError for files that are missing or not of that kind.
    """
    settings = task.settings()
    if begun is not None:
        if not begun.is_file():
            raise ConfigError(f"{begun}: is missing, so there is no run to resume. Start it without --resume.")
        noted = json.loads(begun.read_text(encoding="utf-8"))
        if noted["task"] != task.name:
            raise ConfigError(f"{begun}: is of the task {noted['task']!r}, not {task.name!r}. Name that task.")
        settings = with_table(settings, noted["settings"], str(begun))
    if config is not None:
        settings = with_table(settings, _table(config), str(config))
    return settings


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file. Paths are relative to {Path.cwd()}. Check it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not a TOML file: {error}. Each line is: setting = value") from None
