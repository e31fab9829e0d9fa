"""What a run is, in a JSON file of its folder, so that it only goes on as what it was begun as."""

import json
from pathlib import Path
from typing import Any

from elmo.disk.atomic import new_file
from elmo.errors import ConfigError

_SHOWN = {"bilm": "biLM"}


def write_json_file(path: Path, values: dict[str, Any]) -> None:
    """A file of facts; whole or not at all."""
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    with new_file(path, size=len(text), force=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def require_same_run(path: Path, facts: dict[str, Any]) -> None:
    """ConfigError if the run of `path` was begun with other facts; nothing if it wasn't begun.

    `facts`: plain values; tables in it, "data" (hashes by name) and "settings", are compared line by line.
    """
    if not path.is_file():
        return
    noted = json.loads(path.read_text(encoding="utf-8"))
    plain = json.loads(json.dumps(facts))
    # A setting that didn't exist yet when the run was begun changed nothing then.
    plain["settings"] = {name: value for name, value in plain["settings"].items() if name in noted["settings"]}
    plain["data"] = {**dict.fromkeys(noted["data"]), **plain["data"]}  # also of a file that isn't given any more
    begun = _flat(noted)
    for name, now in _flat(plain).items():
        if begun.get(name) != now:
            raise ConfigError(
                f"{path}: the run was begun with {name} {begun.get(name)!r}, now it is {now!r}: its parts would not "
                "belong together. Resume with what it was begun with, or name another folder."
            )


def _flat(facts: dict[str, Any]) -> dict[str, Any]:
    single = {_SHOWN.get(name, name): value for name, value in facts.items() if not isinstance(value, dict)}
    data = {f"the {name} file of hash": value for name, value in facts["data"].items()}
    return {**single, **facts["settings"], **data}
