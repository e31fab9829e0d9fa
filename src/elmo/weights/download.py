"""Download: a model of the Hugging Face hub, always the one that was had first.

What a repository holds changes whenever its owner wants. So the commit that a name meant when it was first used is
recorded in the user's cache folder, and later uses of the name mean that commit; `org/name@REVISION` (a branch, tag or
commit) asks for another one.
"""

import re
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

from elmo.disk.atomic import new_file
from elmo.disk.bounded import is_file, read_bytes
from elmo.disk.cache import cache_folder
from elmo.errors import MissingExtraError, OutputError, WeightFileError

HUB_ID = re.compile(r"(?P<name>[A-Za-z0-9_][\w.-]*/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)
"""org/name or org/name@REVISION"""

MAX_BYTES = 8 << 30
"""Of all the files of a model together. The published original has 0.4 GB, with its softmax 2 GB."""

# What a model of any readable format consists of; a repository's other files stay where they are. Pickles can run code
# when opened: who wants those of ELMoForManyLangs fetches them by hand, knowing from whom.
_MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.md", "*.hdf5", "*.dic"]
_COMMIT = re.compile(r"[0-9a-f]{40}")


def downloaded(hub_id: str, *, download: bool = True) -> Path:
    """The local folder of the model `org/name` or `org/name@REVISION`; fetched unless it was fetched before.

    `download=False` asks no network. Raises WeightFileError if the hub gives no such model, or one of too many bytes;
    what the hub's library says of the network is raised as it is.
    """
    match = HUB_ID.fullmatch(hub_id)
    assert match is not None, hub_id
    name, revision = match["name"], match["revision"] or _recorded_commit(match["name"])
    huggingface_hub = hub_library(f"the model {hub_id}, which is not a file or folder here, but may be on a hub,")
    if download and not (revision and _COMMIT.fullmatch(revision)):
        info = huggingface_hub.model_info(name, revision=revision, files_metadata=True)
        _require_readable(hub_id, {file.rfilename: file.size or 0 for file in info.siblings or ()})
        asked, revision = revision, info.sha
        if asked is None and revision:
            _record_commit(name, revision)
    return Path(
        huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=_MODEL_FILES, local_files_only=not download
        )
    )


def hub_library(purpose: str) -> ModuleType:
    """huggingface_hub. Raises MissingExtraError without it; `purpose`: what needs it, the subject of the message."""
    try:
        # Here, because the library takes long to import and is needed for few models only.
        import huggingface_hub
    except ModuleNotFoundError as error:
        raise MissingExtraError("huggingface_hub", "hub", purpose) from error
    return huggingface_hub


def _require_readable(hub_id: str, sizes: dict[str, int]) -> None:
    taken = {name for name in sizes if any(fnmatchcase(name, pattern) for pattern in _MODEL_FILES)}
    if (total := sum(sizes[name] for name in taken)) > MAX_BYTES:
        raise WeightFileError(
            f"{hub_id}: its files have {total:,} bytes, a model has at most {MAX_BYTES:,}, so this is not a model. "
            f"{_by_hand(hub_id)}"
        )
    if "token_embedder.pkl" in sizes:
        raise WeightFileError(
            f"{hub_id}: its model is stored as pickles, which can run code when opened and are not downloaded unasked. "
            f"{_by_hand(hub_id)}"
        )


def _by_hand(hub_id: str) -> str:
    name, _, revision = hub_id.partition("@")
    return (
        f"If you trust its owner, get it with 'hf download {name}{f' --revision {revision}' if revision else ''} "
        "--local-dir FOLDER' and pass FOLDER."
    )


def _commit_file(name: str) -> Path:
    return cache_folder() / "hub" / f"{name.replace('/', '--')}.commit"


def _recorded_commit(name: str) -> str | None:
    path = _commit_file(name)
    try:
        commit = read_bytes(path, limit=100).decode("ascii").strip() if is_file(path) else None
    except (OSError, ValueError):
        return None
    return commit if commit and _COMMIT.fullmatch(commit) else None


def _record_commit(name: str, commit: str) -> None:
    path = _commit_file(name)
    try:
        with new_file(path, size=len(commit), force=True) as unfinished:
            unfinished.write_text(f"{commit}\n", encoding="ascii")
    except (OSError, OutputError) as error:
        raise WeightFileError(
            f"{path}: the commit of {name} can't be recorded: {error}. Without a record, another model may come next "
            f"time: set ELMO_CACHE to a folder that can be written, or ask for {name}@{commit}."
        ) from error
