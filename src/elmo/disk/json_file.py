"""JSON and TOML files: read with bounds, because a damaged or hostile one must end in a clear error.

`read_json` reads files of others, such as a model's config; `read_record` what this program has written about a run;
`read_records` a log with an object in each line; `read_toml` what a user has written.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo.disk.atomic import write_file
from elmo.disk.bounded import read_bytes, readable
from elmo.errors import ConfigError, WeightFileError, paths_count_from

_CONFIG_BYTES = 1 << 20
_RECORD_BYTES = 1 << 28


def read_json(path: Path, *, limit: int = _CONFIG_BYTES) -> dict[str, Any]:
    """The object in the file, of at most `limit` bytes. Raises WeightFileError."""
    with readable(path, WeightFileError, "Pass the files as they were published, or the folder that holds them."):
        content = read_bytes(path, limit=limit)
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise WeightFileError(f"{path}: is not valid JSON ({error}): it is damaged. Get the file again.") from None
    if not isinstance(values, dict):
        raise WeightFileError(f"{path}: holds a JSON {type(values).__name__}, not an object. Get the file again.")
    return values


def read_record(path: Path, *, limit: int = _RECORD_BYTES) -> Any:
    """What a JSON file of at most `limit` bytes holds, that a run of elmo wrote. Raises ConfigError."""
    content = _content(path, limit)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path}: is not valid JSON ({error}), so it was damaged since a run of elmo wrote it. Restore it from a "
            "copy, or start again in a new folder."
        ) from None


def read_records(path: Path, count: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a run's log of JSON objects, as text and as values; nothing if there is no log.

    `count`: the key of every line that has the run's position as a whole number: "step" or "epoch". A line
    without it was damaged, and is left out like one that is not JSON or that a killed process did not finish. Raises
    ConfigError for a log that can't be read.
    """
    for line in _content(path, _RECORD_BYTES).split(b"\n") if path.is_file() else ():
        try:
            values = json.loads(text := line.decode("utf-8"))
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict) and type(values.get(count)) is int:
            yield text, values


def add_record(path: Path, values: Mapping[str, Any]) -> None:
    """Appends a line to such a log. Raises OSError."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(values) + "\n")


def forget_records_after(path: Path, count: str, last: int) -> None:
    """Keeps the lines of such a log up to the position `last`: those after it will be written again."""
    if path.is_file():
        kept = "".join(line + "\n" for line, values in read_records(path, count) if values[count] <= last)
        write_file(path, kept.encode())


def read_toml(path: Path) -> dict[str, Any]:
    """The settings in a TOML file. Raises ConfigError."""
    content = _content(path, _CONFIG_BYTES)
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not a TOML file: {error}. Each line is: setting = value") from None


def _content(path: Path, limit: int) -> bytes:
    with readable(path, ConfigError, f"Check the spelling and the file. {paths_count_from()}."):
        return read_bytes(path, limit=limit)


def write_json(path: Path, values: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Writes `values` as JSON, atomically; an existing file is replaced.

    What isn't ASCII is escaped, so that even lone surrogates survive: a file name that isn't UTF-8 has them. Raises
    OutputError if the file can't be written.
    """
    write_file(path, (json.dumps(values, indent=indent) + "\n").encode("ascii"))
