"""JSON files of a model: read with bounds, because a damaged or hostile one must end in a clear error."""

import json
from pathlib import Path
from typing import Any

from elmo.disk.bounded import read_bytes
from elmo.errors import WeightFileError

_CONFIG_BYTES = 1 << 20


def read_json(path: Path, *, limit: int = _CONFIG_BYTES) -> dict[str, Any]:
    """The object in the file, of at most `limit` bytes. Raises WeightFileError."""
    try:
        values = json.loads(read_bytes(path, limit=limit).decode("utf-8-sig"), parse_constant=_refuse_constant)
    except OSError as error:
        raise WeightFileError(
            f"{path}: can't be read: {error.strerror or error}. Pass the files as they were published, or the folder "
            "that holds them."
        ) from None
    except (ValueError, RecursionError) as error:
        raise WeightFileError(f"{path}: is not valid JSON ({error}): it is damaged. Get the file again.") from None
    if not isinstance(values, dict):
        raise WeightFileError(f"{path}: holds a JSON {type(values).__name__}, not an object. Get the file again.")
    return values


def write_json(path: Path, values: dict[str, Any], *, indent: int | None = 2) -> None:
    """`values` as JSON; what isn't ASCII is escaped, so that even lone surrogates survive."""
    path.write_bytes((json.dumps(values, indent=indent) + "\n").encode("ascii"))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
