"""`elmo task`: train, score and use a model of a task, of the paper or your own, with ELMo or without.

Each action is a file: `train`; `apply`, for evaluate and predict; `score`, which holds the tables as well.
"""

import sys

from elmo.cli.examples import examples_of
from elmo.cli.verbs.task.apply import evaluate, predict
from elmo.cli.verbs.task.score import score
from elmo.cli.verbs.task.train import train
from elmo.errors import ConfigError
from elmo.tasks.registry import summaries

_ACTIONS = {"train": train, "evaluate": evaluate, "predict": predict, "score": score}


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    words = argv[1:2] if argv[:1] in (["train"], ["score"]) and len(argv) < 3 else argv
    if words in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if argv[0] not in _ACTIONS:
        raise ConfigError(f"elmo task: there is no action {argv[0]!r}. The actions are: {', '.join(_ACTIONS)}.")
    return _ACTIONS[argv[0]](argv[1:])


def _help() -> str:
    tasks = summaries()
    width = max(map(len, tasks))
    return "\n".join(
        [
            "usage: elmo task train TASK [CONFIG.toml] --train FILE [--dev FILE] [--test FILE] -o RUN ...",
            "       elmo task evaluate RUN FILE ...",
            "       elmo task predict RUN [FILE ...] ...",
            "       elmo task score TASK GOLD PREDICTIONS ...",
            "",
            "Train a model of a task on your own files, with ELMo or without; score it; use it on text; or score the",
            "predictions of any system. RUN is the output folder of a training, which knows its task.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in tasks.items()),
            "",
            "A task of your own is named as package.module:TASK.",
            "",
            "  elmo task train TASK --help  every setting of a task",
            "",
            examples_of("task"),
        ]
    )
