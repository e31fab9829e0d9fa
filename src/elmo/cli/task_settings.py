"""Settings of a task where no flag gives them: the task's own, those of a resumed run, those of a TOML file."""

from pathlib import Path

from elmo.disk.json_file import read_record, read_toml
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
        noted = read_record(begun)
        if noted["task"] != task.name:
            raise ConfigError(f"{begun}: is of the task {noted['task']!r}, not {task.name!r}. Name that task.")
        settings = with_table(settings, noted["settings"], str(begun))
    if config is not None:
        settings = with_table(settings, read_toml(config), str(config))
    return settings
