"""Sums: the SHA-256 of files in a folder that elmo wrote, so that what was changed is noticed before it is believed.

They are for changes by disks, copies and hands, not by somebody who writes new sums too. Checkpoints, the last epoch of
a task's training, prepared data, task models and remembered layers have them in a file sha256.json.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from elmo.disk.bounded import file_hash, read_bytes, shown
from elmo.disk.json_file import write_json

SUMS_FILE = "sha256.json"
_SUMS_BYTES = 1 << 24


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """Writes the sums of the files `names`, relative to the folder, into its file sha256.json. Raises OSError."""
    write_json(folder / SUMS_FILE, {name: file_hash(folder / name) for name in names})


def has_sums(folder: Path) -> bool:
    """Whether sums were written. Folders that elmo 0.1.0 wrote have none, except those of checkpoints."""
    return (folder / SUMS_FILE).exists()


def what_changed(folder: Path, *, needs_sums: bool = False) -> str | None:
    """The first file that is not as it was, and how; None if all are, or if there are no sums and none are needed."""
    try:
        noted = json.loads(read_bytes(folder / SUMS_FILE, limit=_SUMS_BYTES))
    except FileNotFoundError:
        return f"{SUMS_FILE} is missing" if needs_sums else None
    except (OSError, ValueError, RecursionError) as error:
        return f"{SUMS_FILE} can't be read: {getattr(error, 'strerror', None) or 'it is not JSON'}"
    if not isinstance(noted, dict) or not noted:
        return f"{SUMS_FILE} has no sums"
    for name, sha256 in noted.items():
        try:
            if file_hash(folder / name) != sha256:
                return f"{name} was changed (its checksum is another)"
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            return f"{shown(name)} can't be read: {getattr(error, 'strerror', None) or error}"
    return None
