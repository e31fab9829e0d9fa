"""`elmo inspect`: what a model's files hold."""

import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.output import print_report
from elmo.errors import ConfigError, WeightFileError


@dataclass(frozen=True)
class Arguments:
    """Show what is in a model's files: format, sizes, tensors, hashes and facts. Reads every published format."""

    model: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL]")] = None
    """A name ('elmo models' lists them), a folder or file, or an id of the Hugging Face hub (org/name). Without it:
    $ELMO_MODEL, or the bundled model."""
    options: Path | None = None
    """The options.json of MODEL, if MODEL is an HDF5 file without one next to it."""
    json: bool = False
    """Print it as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "inspect")
    from elmo.weights import formats
    from elmo.weights.describe import describe
    from elmo.weights.hub import resolve

    if arguments.options is None:
        files = resolve(arguments.model)
    elif arguments.model is None:
        raise ConfigError("--options was given without MODEL, the HDF5 file it belongs to. Name that file too.")
    else:
        files = resolve((arguments.options, arguments.model))
    try:
        checkpoint = formats.read(files)
    except WeightFileError:
        _show_datasets(files)
        raise
    shapes = {name: list(tensor.shape) for name, tensor in checkpoint.tensors.items()}
    paths = list(map(str, files if isinstance(files, tuple) else (files,)))
    facts = {"files": paths, **describe(checkpoint), "shapes": shapes}
    print_report(facts, _table(facts), as_json=arguments.json)
    return 0


def _show_datasets(files: Path | tuple[Path, Path]) -> None:
    """The shapes in an HDF5 file that is not a whole model: they help to find the options that belong to it."""
    from elmo.weights.allennlp.hdf5 import SIGNATURE, Hdf5File

    path = files[1] if isinstance(files, tuple) else files
    if not path.is_file() or path.stat().st_size < len(SIGNATURE):
        return
    with path.open("rb") as opened:
        if opened.read(len(SIGNATURE)) != SIGNATURE:
            return
    with closing(Hdf5File(path)) as file:
        width = max(map(len, file.shapes), default=0)
        for name, shape in file.shapes.items():
            print(f"{name:{width}}  {_shape(shape)}")
    sys.stdout.flush()


def _table(facts: dict[str, Any]) -> str:
    parameters, architecture = facts["parameters"], facts["architecture"]
    rows = {
        "files": ", ".join(facts["files"]),
        "format": facts["format"],
        "reads": " and ".join(facts["reads"]),
        "layers": f"{facts['layers']} ({', '.join(facts['directions'])}) above the token layer",
        "vectors": f"{facts['output_dim']} dimensions per token and layer",
        "LSTM": f"cell_size {architecture['cell_size']}, projection_size {architecture['projection_size']}, "
        f"cell_clip {facts['cell_clip']}, projection_clip {facts['projection_clip']}",
        "filters": " ".join(f"{width}x{count}" for width, count in facts["filters"]) or "none",
        "parameters": f"{parameters['total']:,}" + _softmax(parameters["softmax"]),
        **{f"  {part}": f"{count:,}" for part, count in parameters["parts"].items()},
        "vocabulary": "none" if facts["vocabulary_size"] is None else f"{facts['vocabulary_size']:,} words",
        "warm state": "yes" if facts["has_warm_state"] else "no",
        "content hash": facts["content_hash"],
        "source hash": facts["source_hash"] or "none",
        **{f"  {Path(file['path']).name}": _known(file) for file in facts["source_files"]},
        **facts["metadata"],
    }
    lines = [f"{name:22} {value}" for name, value in rows.items()]
    return "\n".join([*lines, "", *(f"{name:45} {_shape(shape)}" for name, shape in facts["shapes"].items())])


def _known(file: dict[str, Any]) -> str:
    published = f", the published {file['published_as']!r}" if file["published_as"] else ""
    return f"SHA-256 {file['sha256']}{published}"


def _softmax(size: int) -> str:
    return f", and {size:,} of the softmax" if size else ", no softmax"


def _shape(shape: tuple[int, ...] | list[int]) -> str:
    return " x ".join(map(str, shape)) or "scalar"
