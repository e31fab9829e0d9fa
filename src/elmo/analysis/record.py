"""The record of an analysis, plain for JSON; every one begins alike.

analysis, settings       what was asked
date, command            when, and by which command; files are named without their folders
elmo, commit, machine    which code, on which machine, with which libraries
model, model_hash, dtype, static, encoders
data                     each file's name and SHA-256
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo.disk.bounded import file_hash
from elmo.ops.native.threads import num_threads
from elmo.process.environment import provenance

Record = dict[str, Any]


def begun(
    analysis: str,
    *,
    encoders: Mapping[str, Any],
    data: Mapping[str, Path | Sequence[Path]],
    settings: Mapping[str, Any],
    command: Sequence[str] = (),
) -> Record:
    """What every record begins with. `encoders`: as `described` gives it; `command`: default: this process's own."""
    return {
        "analysis": analysis,
        "command": shown_command(command or ["elmo", *sys.argv[1:]]),
        **provenance(num_threads()),
        **encoders,
        "data": {name: _files(found) for name, found in data.items()},
        "settings": dict(settings),
    }


def shown_command(words: Sequence[str]) -> str:
    """A command line whose files are named without their folders: where they lie is of no use to others.

    A sentence with a slash and the name of a model on a hub stay as they are: they lie in no folder.
    """
    return shlex.join(map(_without_folder, words))


def _without_folder(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    path = Path(value)
    # Not `Path.is_dir`, which raises an OSError for what is too long for a name.
    lies_in_folder = "/" in value and os.path.isdir(path.parent)  # noqa: PTH112
    return option + equals + (path.name if lies_in_folder else value)


def _files(found: Path | Sequence[Path]) -> Any:
    return _file(found) if isinstance(found, Path) else [_file(one) for one in found]


def _file(path: Path) -> dict[str, str]:
    return {"file": path.name, "sha256": file_hash(path)}
