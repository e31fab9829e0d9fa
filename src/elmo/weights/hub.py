"""Resolves a model name to local files; downloads only what is missing.

What a repository of the Hugging Face hub holds changes whenever its owner wants. So the commit that a name meant when
it was first used is recorded in the user's cache folder, and later uses of the name mean that commit;
`org/name@REVISION` (a branch, tag or commit) asks for another one.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

from elmo.disk.atomic import write_file
from elmo.disk.bounded import is_file, read_bytes, readable
from elmo.disk.cache import cache_folder, unusable
from elmo.errors import ConfigError, ElmoError, WeightFileError, paths_count_from
from elmo.process.extra_library import extra_library
from elmo.process.progress.report import Progress
from elmo.weights.allennlp.names import pair_of
from elmo.weights.catalogue import MAX_BYTES, bundled_folders
from elmo.weights.native.names import model_folder
from elmo.weights.published.sources import is_published
from elmo.weights.tensorflow.tensor_bundle import index_of

DEFAULT_MODEL = "small-en"
MODEL_VARIABLE = "ELMO_MODEL"

Model = str | Path | tuple[str | Path, str | Path] | None
Files = Path | tuple[Path, Path]

HUB_ID = re.compile(r"(?P<name>[A-Za-z0-9_][\w.-]*/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)
"""org/name or org/name@REVISION"""

# What a model of any readable format consists of; a repository's other files stay where they are.
_MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.md", "*.hdf5", "*.dic", "token_embedder.pkl", "encoder.pkl"]
_COMMIT = re.compile(r"[0-9a-f]{40}")

_LONGEST_NAME = 300
_CHECK = "Check the path and its permissions."
# With these endings it is a file, not an id of the hub, though my-run/options.json looks like org/name.
_ENDINGS = (".json", ".hdf5", ".h5", ".safetensors", ".pkl", ".th", ".pt")


def resolve(model: Model = None, *, download: bool = True, progress: Progress | bool = True) -> Files:
    """The local folder or file of a model, or its pair (options.json, weights.hdf5).

    `model`: None for $ELMO_MODEL, or else the bundled default; the name of a bundled model (`./NAME` for a folder
    called like one); an existing path, where the folder of a pretraining run means the model in it, and a zip archive
    is unpacked once, into the cache folder; the path of a bilm-tf checkpoint without its files' endings; a pair
    (options.json, weights.hdf5); the name of a published model ("original", "many-langs/ko", "nlpl:154"), downloaded
    from its publishers once (see `published.fetch`); an id `org/name` or `org/name@REVISION` of the Hugging Face hub,
    downloaded once too (see `download`). `download`: False asks no network. `progress`: of a published model's
    download, as for `fetch.fetched`. Raises WeightFileError if there is no such model, ConfigError for anything else,
    MissingExtraError for a hub's id without huggingface_hub.
    """
    if model is None:
        model = os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    if isinstance(model, tuple | list):
        options, weights = map(_expanded, pair_of(model))
        return options, weights
    if isinstance(model, str) and (folder := bundled_folders().get(model)) is not None:
        return folder
    path = _expanded(model)
    with readable(_named(path), WeightFileError, _CHECK):
        is_there = path.exists() or is_file(index_of(path))
    if is_there:
        return model_folder(path) or _unpacked(path)
    if isinstance(model, str) and is_published(model):
        # Here, because it reads the formats, which ask for names of models themselves.
        from elmo.weights.published.fetch import fetched

        return fetched(model, download=download, progress=progress)
    if isinstance(model, str) and (hub_id := HUB_ID.fullmatch(model)) and path.suffix not in _ENDINGS:
        return _from_hub(hub_id, download)
    raise WeightFileError(
        f"{_named(model)}: there is no such file or folder, and no model of that name. {paths_count_from()}. "
        f"{_names_of_models()}"
    )


def lasting_name(model: str) -> str:
    """What a file notes of where a model is, "" for the default one: a name or a hub id as they are, a path as an
    absolute one."""
    name = model or os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    path = _expanded(name)
    is_path = name not in bundled_folders() and (path.exists() or is_file(index_of(path)))
    return str(path.resolve()) if is_path else name


def refuse_name(given: object, owner: str, takes: str) -> None:
    """ConfigError if a class was given a model name or path. `owner`: the class. `takes`: what it takes."""
    if given is None or isinstance(given, str | os.PathLike | tuple | list):
        call = f"{owner}.from_pretrained({'' if given is None else repr(given)})"
        raise ConfigError(
            f"{owner}(...) was given {given!r}, but takes {takes}. A model is loaded from its name or path by {call}."
        )


def _unpacked(path: Path) -> Path:
    """The folder of the model in a zip archive; anything else as it is."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        return path
    from elmo.weights.published.fetch import from_archive  # as above

    with readable(path, WeightFileError, _CHECK):
        folder = from_archive(path)
    return model_folder(folder) or folder


def _expanded(model: str | Path) -> Path:
    """The path, with ~ and ~user for a home folder where there is one."""
    try:
        return Path(model).expanduser()
    except RuntimeError:  # no such user
        return Path(model)


def _named(model: str | Path) -> str:
    text = str(model)
    return text if len(text) <= _LONGEST_NAME else f"{text[:40]}... ({len(text):,} characters)"


def _from_hub(hub_id: re.Match[str], download: bool) -> Path:
    try:
        return _downloaded(hub_id, download)
    except ElmoError:
        raise
    except Exception as error:  # of the hub's library or its HTTP client, whose errors differ by version
        raise WeightFileError(
            f"{hub_id[0]}: is not a file or folder here, and the Hugging Face hub did not provide it: "
            f"{_first_line(error)} Check the spelling and the network, or pass a FOLDER from 'hf download "
            f"{hub_id['name']} --local-dir FOLDER'. {_names_of_models()}"
        ) from error


def _first_line(error: Exception) -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0].strip()
    return text if text.endswith(".") else f"{text}."


def _names_of_models() -> str:
    names = ", ".join(bundled_folders()) or "none in this installation"
    return f"Bundled models: {names}; 'elmo models' lists all known ones."


def _downloaded(hub_id: re.Match[str], download: bool) -> Path:
    """The model's local folder; fetched unless it was fetched before."""
    name, revision = hub_id["name"], hub_id["revision"] or _recorded_commit(hub_id["name"])
    needs = f"the model {hub_id[0]}, which is not a file or folder here, but may be on a hub,"
    huggingface_hub = extra_library("huggingface_hub", "hub", needs)
    if download and not (revision and _COMMIT.fullmatch(revision)):
        info = huggingface_hub.model_info(name, revision=revision, files_metadata=True)
        _require_readable(hub_id[0], {file.rfilename: file.size or 0 for file in info.siblings or ()})
        asked, revision = revision, info.sha
        if asked is None and revision:
            _record_commit(name, revision)
    return Path(
        huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=_MODEL_FILES, local_files_only=not download
        )
    )


def _require_readable(hub_id: str, sizes: dict[str, int]) -> None:
    taken = {name for name in sizes if any(fnmatchcase(name, pattern) for pattern in _MODEL_FILES)}
    if (total := sum(sizes[name] for name in taken)) > MAX_BYTES:
        raise WeightFileError(
            f"{hub_id}: its files have {total:,} bytes, a model at most {MAX_BYTES:,}. Get those of the model with "
            f"'hf download {hub_id.partition('@')[0]} FILES --local-dir FOLDER' and pass FOLDER."
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
        write_file(path, f"{commit}\n".encode("ascii"))
    except OSError as error:
        raise unusable(path, error) from error
