"""`elmo convert`: a model of any published format -> ours, AllenNLP's or ONNX."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import tyro

from elmo.cli.arguments import Force, parsed
from elmo.cli.output import print_report
from elmo.errors import ConfigError
from elmo.text.files.text_file import require_other_file

if TYPE_CHECKING:
    from elmo.integrations.onnx import StoredWeights


@dataclass(frozen=True)
class Arguments:
    """Convert a model between formats.

    Reads AllenNLP's options.json + weights.hdf5, a bilm-tf training checkpoint, an ELMoForManyLangs folder or our own
    folder; writes our own folder, AllenNLP's two files, or a folder with an ONNX file."""

    model: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")]
    """A name ('elmo models' lists them), a folder or file, or an id of the Hugging Face hub (org/name)."""
    output: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]
    """The folder to write."""
    to: Literal["native", "allennlp", "onnx"] = "native"
    """native: config.json + model.safetensors; allennlp: options.json + weights.hdf5; onnx: model.onnx + tokens.json,
    for programs in other languages."""
    options: Path | None = None
    """The options.json of MODEL, if MODEL is an HDF5 file without one next to it."""
    vocabulary: Path | None = None
    """The words of the rows of the softmax or of the word vectors, one per line, if the file is not next to MODEL."""
    token_embeddings: Path | None = None
    """HDF5 file of token vectors that replace the char CNN."""
    softmax: Path | None = None
    """HDF5 file of the softmax, if it is not next to MODEL."""
    dtype: Literal["float32", "float16", "bfloat16", "int8"] = "float32"
    """How native files store the values. bfloat16 and int8 are for 'elmo embed --dtype bfloat16' or int8, which then
    gives the same vectors as with float32 files. ONNX files: float32 or int8."""
    force: Force = False
    json: bool = False
    """Print what was written as JSON."""
    quiet: bool = False
    """Print nothing."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "convert")
    from elmo.weights import formats
    from elmo.weights.allennlp.write import write as write_allennlp
    from elmo.weights.describe import describe
    from elmo.weights.hub import resolve
    from elmo.weights.native.write import write as write_checkpoint

    if arguments.to == "onnx":
        from elmo.integrations.onnx import require

        require(arguments.dtype)
    if arguments.to == "allennlp" and arguments.dtype != "float32":
        raise ConfigError(
            f"dtype is {arguments.dtype}, but AllenNLP and bilm-tf only read float32. Leave --dtype out, or use "
            "--to native."
        )
    model = arguments.model if arguments.options is None else (arguments.options, arguments.model)
    files = resolve(model, progress=not arguments.quiet)
    for source in files if isinstance(files, tuple) else (files,):
        require_other_file(source, arguments.output, kind="model")
    checkpoint = formats.read(
        files,
        vocabulary=arguments.vocabulary,
        token_embeddings=arguments.token_embeddings,
        softmax=arguments.softmax,
    )
    if arguments.to == "onnx":
        from elmo.integrations.onnx import write as write_onnx

        write_onnx(checkpoint, arguments.output, dtype=cast("StoredWeights", arguments.dtype), force=arguments.force)
    elif arguments.to == "native":
        write_checkpoint(checkpoint, arguments.output, dtype=arguments.dtype, force=arguments.force)
    else:
        write_allennlp(checkpoint, arguments.output, force=arguments.force)
    facts = {"output": str(arguments.output), "to": arguments.to, **describe(checkpoint)}
    text = (
        f"{arguments.output}: {facts['parameters']['total']:,} parameters, from {facts['format']} to "
        f"{arguments.to}, {_extras(facts['has_softmax'], facts['vocabulary_size'])}"
    )
    print_report(facts, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0


def _extras(has_softmax: bool, words: int | None) -> str:
    vocabulary = "without a vocabulary" if words is None else f"with a vocabulary of {words:,} words"
    return f"{vocabulary} and {'with' if has_softmax else 'without'} a softmax"
