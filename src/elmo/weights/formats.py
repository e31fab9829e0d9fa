"""Which published format some files are, and reading any of them.

native       a folder with config.json and model.safetensors; or the folder of a pretraining run, which has one in it
allennlp     options.json and weights.hdf5, as AllenNLP and bilm-tf read them
many_langs   a folder of ELMoForManyLangs: token_embedder.pkl, encoder.pkl, char.dic
tensorflow   a training checkpoint of bilm-tf: model.ckpt-*.index
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from elmo.disk.bounded import readable, shown
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.allennlp.names import OPTIONS_FILE, pair_of
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.names import CONFIG_FILE, MODEL_FILE, model_folder
from elmo.weights.native.read import read as read_native

Model = str | Path | tuple[str | Path, str | Path]

_HDF5_SUFFIXES = (".hdf5", ".h5")
# Files beside the weights that are HDF5 too.
_NO_WEIGHTS = ("softmax", "embedding")
_CHECK = "Check the path and its permissions."


class _AllenNlpFiles(NamedTuple):
    """By the names that `allennlp.read` has for them."""

    options: Path
    weights: Path
    vocabulary: Path | None
    softmax: Path | None


def recognize(path: str | Path) -> str:
    """The format of a folder or file, as it is called above. Raises WeightFileError if it is none of them."""
    path = Path(path)
    with readable(shown(str(path), 300), WeightFileError, _CHECK):
        if _native_folder(path) is not None:
            return "native"
        if _reader("many_langs").recognizes(path):  # before HDF5 files, which may be vectors that were written there
            return "many_langs"
        if _looks_like_allennlp(path):
            return "allennlp"
        if _reader("tensorflow").recognizes(path):
            return "tensorflow"
        raise WeightFileError(_no_model(path))


def read(
    model: Model,
    *,
    vocabulary: str | Path | None = None,
    token_embeddings: str | Path | None = None,
    softmax: str | Path | None = None,
    with_softmax: bool = True,
    narrow: bool = False,
) -> Checkpoint:
    """A model of any format: a folder, the file of its weights, its config.json or options.json beside them, or a pair
    (options.json, weights.hdf5).

    The named arguments go with AllenNLP's format (see `allennlp.read`), `vocabulary` also with bilm-tf's checkpoints.
    In an AllenNLP folder, vocab.txt and softmax.hdf5 are found by themselves. `with_softmax`: False leaves softmax and
    vocabulary out where that saves time (our own format): vectors don't need them. `narrow`: tensors of our own format
    stay in as few bits as they are stored in, and `checkpoint.tensors` widens one at each access. Raises
    WeightFileError if no model is found, or more than one.
    """
    extras = {"vocabulary": vocabulary, "token_embeddings": token_embeddings, "softmax": softmax}
    given = {name: Path(path) for name, path in extras.items() if path is not None}
    with readable(shown(str(model), 300), WeightFileError, _CHECK):
        return _read(model, given, with_softmax, narrow)


def options_file(path: Path) -> Path:
    """The options file of an AllenNLP model, given its folder or one of its files. Raises WeightFileError."""
    return _allennlp_files(path).options


def _read(model: Model, given: dict[str, Path], with_softmax: bool, narrow: bool) -> Checkpoint:
    if isinstance(model, tuple | list):
        return _reader("allennlp").read(*pair_of(model), **given)
    path = Path(model)
    found = recognize(path)
    if found == "allennlp":
        return _reader("allennlp").read(**_allennlp_files(path)._asdict() | given)
    if refused := [name for name in given if (found, name) != ("tensorflow", "vocabulary")]:
        raise ConfigError(
            f"{refused[0]} was given, but {path} is a model of the {found} format, which brings its own. Leave it out."
        )
    if found == "native":
        return read_native(_native_folder(path) or path, with_softmax=with_softmax, narrow=narrow)
    return _reader(found).read(path, **given)


def _reader(name: str) -> ModuleType:
    """Loaded when it is needed: most processes read one format, and h5py takes a tenth of a second."""
    return import_module(f"elmo.weights.{name}.read")


def _native_folder(path: Path) -> Path | None:
    return model_folder(path.parent if path.name in (CONFIG_FILE, MODEL_FILE) and path.is_file() else path)


def _looks_like_allennlp(path: Path) -> bool:
    if path.is_dir():
        return bool(_weights_in(path))
    return path.is_file() and (path.suffix in _HDF5_SUFFIXES or (_is_options(path) and bool(_weights_in(path.parent))))


def _allennlp_files(path: Path) -> _AllenNlpFiles:
    folder = path if path.is_dir() else path.parent
    weights, options = _weights_in(folder), _options_in(folder)
    # In a folder of several models, a vocabulary could belong to any of them.
    one_model = len(weights) == 1
    if path.is_file():
        weights = [path] if path.suffix in _HDF5_SUFFIXES else _matching(weights, path)
        options = [path] if _is_options(path) else _matching(options, path)
    options = [file for file in options if file.name == OPTIONS_FILE] or options
    return _AllenNlpFiles(
        _only(options, path, "options file (*options*.json)"),
        _only(weights, path, "weight file (*.hdf5)"),
        _one_or_none(folder, "vocab.txt", "*vocab*.txt") if one_model else None,
        _one_or_none(folder, "softmax.hdf5", "*softmax*.hdf5") if one_model else None,
    )


def _weights_in(folder: Path) -> list[Path]:
    files = [path for path in sorted(folder.iterdir()) if path.suffix in _HDF5_SUFFIXES and path.is_file()]
    files = [path for path in files if not any(word in path.name for word in _NO_WEIGHTS)]
    return [path for path in files if "weights" in path.name] or files


def _options_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if _is_options(path)]


def _is_options(path: Path) -> bool:
    return path.suffix == ".json" and "options" in path.name and path.is_file()


def _matching(candidates: list[Path], other: Path) -> list[Path]:
    """Those that bear the name of `other`: x_options.json goes with x_weights.hdf5."""
    stem = other.stem.replace("options", "*").replace("weights", "*")
    same = [path for path in candidates if path.stem.replace("options", "*").replace("weights", "*") == stem]
    return same or candidates


def _only(candidates: list[Path], path: Path, what: str) -> Path:
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(candidate.name for candidate in candidates) or "none"
    raise WeightFileError(
        f"{path}: the model needs one {what} beside its other files, but there are {len(candidates)}: {names}. Pass "
        "the pair (options.json, weights.hdf5)."
    )


def _one_or_none(folder: Path, name: str, pattern: str) -> Path | None:
    if (folder / name).is_file():
        return folder / name
    found = sorted(folder.glob(pattern))
    return found[0] if len(found) == 1 else None


def _no_model(path: Path) -> str:
    known = (
        "Known are: a folder with config.json and model.safetensors (native), or a run's folder that has one as "
        "model/; options.json with weights.hdf5 (AllenNLP, bilm-tf); a folder with token_embedder.pkl, encoder.pkl and "
        "char.dic (ELMoForManyLangs); a folder with options.json and model.ckpt-* (bilm-tf training checkpoint)"
    )
    if not path.exists():
        return f"{shown(str(path), 300)}: there is no such file or folder. Check the path. {known}."
    if not path.is_dir():
        what = "a file of no known model format" if path.is_file() else "neither a file nor a folder"
        return f"{path}: is {what}. {known}. Archives are to be unpacked first."
    saved = sorted(path.glob("checkpoints/step-*/model"))
    if saved:
        return (
            f"{path}: is a run that has not written a model yet; it has {len(saved)} checkpoints. "
            f"Continue the run, or take the model of its latest checkpoint: {saved[-1]}."
        )
    names = sorted(entry.name for entry in path.iterdir())
    listing = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return f"{path}: holds no model; it has {listing or 'no files'}. {known}."
