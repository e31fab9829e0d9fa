"""Sums: the SHA-256 of files in a folder of our own, so that what was changed since is noticed before it is believed.

A stopped run goes on from files whose every bit counts: a flipped one in an optimizer's tensors gives another model,
without an error. The sums are for such changes, by disks, copies and hands; whoever writes new sums too can plant what
they like.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from elmo.disk.bounded import own_file_hash, read_bytes, shown
from elmo.disk.json_file import write_json

SUMS_FILE = "sha256.json"
_SUMS_BYTES = 1 << 20


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """Writes the sums of the files `names`, relative to the folder, into its file sha256.json. Raises OSError."""
    write_json(folder / SUMS_FILE, {name: own_file_hash(folder / name) for name in names})


def what_changed(folder: Path) -> str | None:
    """The first file that is not as it was when the sums were written, and how; None if all are, or there are no sums.

    Folders written by elmo 0.1.0 have none.
    """
    try:
        noted = json.loads(read_bytes(folder / SUMS_FILE, limit=_SUMS_BYTES, own=True))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        return f"{SUMS_FILE} can't be read: {getattr(error, 'strerror', None) or 'it is not JSON'}"
    if not isinstance(noted, dict) or not noted:
        return f"{SUMS_FILE} has no sums"
    for name, sha256 in noted.items():
        try:
            if own_file_hash(folder / name) != sha256:
                return f"{name} was changed (its checksum is another)"
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            return f"{shown(name)} can't be read: {getattr(error, 'strerror', None) or error}"
    return None
