"""Tasks by name: those of this package, those that installed packages add, and any object.

A package adds a task by an entry point of the group `elmo.tasks`; in its pyproject.toml:

    [project.entry-points."elmo.tasks"]
    reviews = "my_package.reviews:TASK"
"""

from typing import Any, TypeAlias

from elmo.errors import ConfigError
from elmo.process.named_object import find_object, installed
from elmo.tasks.task import Task

AnyTask: TypeAlias = Task[Any, Any, Any]
"""A task whose types are known to itself alone."""

BUILT_IN = {
    "ner": "elmo.tasks.ner.task:TASK",
    "pos": "elmo.tasks.pos.task:TASK",
    "snli": "elmo.tasks.snli.task:TASK",
    "srl": "elmo.tasks.srl.task:TASK",
    "sst": "elmo.tasks.sst.task:TASK",
    "squad": "elmo.tasks.squad.task:TASK",
    "coref": "elmo.tasks.coref.task:TASK",
}
"""The tasks of this package."""

GROUP = "elmo.tasks"


def find(name: str) -> AnyTask:
    """The task of that name: built in, installed, or `package.module:TASK`. Raises ConfigError if there is none."""
    found = find_object(name, "task", BUILT_IN, GROUP)
    if not isinstance(found, Task):
        raise ConfigError(
            f"the task {name!r} is a {type(found).__name__}, not a task. Name an instance of a class derived from "
            "elmo.tasks.task.Task."
        )
    return found


def summaries() -> dict[str, str]:
    """A line for each task; installed ones, which aren't loaded for it, have the name of their module."""
    own = {name: find(name).summary for name in BUILT_IN}
    return {**own, **{name: f"from {point.value}" for name, point in installed(GROUP).items() if name not in own}}


def is_known(name: str) -> bool:
    """Whether `find` needs no module for the name."""
    return name in BUILT_IN or name in installed(GROUP)
