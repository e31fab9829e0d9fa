"""What a run is, in a JSON file of its folder, so that it only goes on as what it was begun as."""

import json
from pathlib import Path
from typing import Any

from elmo.disk.json_file import read_record
from elmo.errors import ConfigError
from elmo.tasks.settings import TaskSettings, to_table, with_table
from elmo.weights.fingerprint import file_hash

_SHOWN = {"bilm": "biLM"}

REMEMBERED = "the score says how well it is remembered, not how well the model does on new text"
"""What a score on training data means."""


def require_same_run(path: Path, facts: dict[str, Any], defaults: TaskSettings) -> None:
    """ConfigError if the run of `path` was begun with other facts; nothing if it wasn't begun.

    `facts`: plain values; its tables "data", "vectors" (hashes by name) and "settings" are compared line by line.
    `defaults`: of the task, which count for settings that didn't exist yet when the run was begun. Hashes of static
    vectors are compared where they were noted: elmo 0.1.0 noted none.
    """
    if not path.is_file():
        return
    noted = read_record(path)
    noted["settings"] = to_table(with_table(defaults, noted["settings"], str(path)))
    begun = _flat(json.loads(json.dumps(noted)))
    plain = json.loads(json.dumps(facts))
    plain["data"] = {**dict.fromkeys(noted["data"]), **plain["data"]}  # also of a file that isn't given any more
    if "vectors" not in noted:
        plain.pop("vectors", None)
    for name, now in _flat(plain).items():
        if begun.get(name) != now:
            raise ConfigError(
                f"{path}: the run was started with {name} {begun.get(name)!r}, now it is {now!r}: its parts would not "
                "belong together. Resume with what it was started with, or name another folder."
            )


def is_training_data(run: Path, file: Path) -> bool:
    """Whether the run of that folder, if it is one, was trained on a file of this content."""
    facts = run / "run.json"
    if not facts.is_file() or not file.is_file():
        return False
    data = read_record(facts).get("data")
    return isinstance(data, dict) and data.get("train") == file_hash([file])


def _flat(facts: dict[str, Any]) -> dict[str, Any]:
    single = {_SHOWN.get(name, name): value for name, value in facts.items() if not isinstance(value, dict)}
    data = {f"the {name} file of hash": value for name, value in facts["data"].items()}
    vectors = {f"the static vectors {name!r} of hash": value for name, value in facts.get("vectors", {}).items()}
    return {**single, **facts["settings"], **data, **vectors}
