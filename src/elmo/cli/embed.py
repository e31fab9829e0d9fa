"""`elmo embed`: text -> vectors, to a file or the screen."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.text.sentences import STDIN, read_sentences
from elmo.text.tokenizer import tokenizer as named_tokenizer

if TYPE_CHECKING:
    import numpy as np

    from elmo.embed.embedder import Embedder


@dataclass(frozen=True)
class Arguments:
    """Turn text into a vector for every token. With -o, a file of sentences becomes a file of vectors; without it,
    a text between quotation marks is shown as a table, and - prints a line of JSON for each line of standard input."""

    input: Annotated[str, tyro.conf.Positional]
    """With -o: a file with one tokenized sentence per line (.gz, .xz and .bz2 are unpacked), or - for standard input.
    Without: a text, or -."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File to make: .h5 or .hdf5 (as AllenNLP's), .parquet or .npy."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"])] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    layers: str = "all"
    """all, average, top, an index (0 is the token layer, -1 the top), or weights like 0.2,0.3,0.5 taken as they are."""
    format: Literal["hdf5", "parquet", "npy"] | None = None
    """Format of the file (default: by its ending)."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    """What the factors of products are rounded to. auto: bfloat16 where this processor is fast in it, else float32."""
    store: Literal["float32", "float16"] = "float32"
    """What is stored."""
    state: Literal["zero", "warm", "carry"] = "zero"
    """Where every sentence starts from: nothing, the model's warm state, or, as in the originals, from what stood in
    its row of the batch before."""
    batch_rows: int | None = None
    """With --state carry: rows of a batch (default: 64). Line k continues line k - batch_rows."""
    tokenizer: Literal["whitespace", "unicode"] = "whitespace"
    """How a line becomes tokens: at whitespace, or by rules for text that isn't tokenized."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What a line that isn't valid text does: stop, or be listed and get no vectors."""
    keep_boundaries: bool = False
    """Also give the vectors of <S> and </S> around each sentence."""
    forget_sentences: bool = False
    """Leave the sentences themselves out of an HDF5 file."""
    max_tokens: int | None = None
    """Tokens in a batch (default: 2048 on a CPU, 16384 on a GPU)."""
    device: Device = "auto"
    """Where to compute."""
    resume: bool = False
    """Go on where a killed or interrupted run ended."""
    force: bool = False
    """Replace an existing file, and throw away an unfinished one."""
    json: bool = False
    """Print the report, or the vectors of a text, as JSON."""
    quiet: bool = False
    """No progress and no report."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = tyro.cli(Arguments, args=argv, prog="elmo embed", config=(tyro.conf.FlagCreatePairsOff,))
    if arguments.batch_rows is not None and arguments.state != "carry":
        raise ConfigError(
            f"--batch-rows is {arguments.batch_rows}, but --state is {arguments.state}, in which rows mean nothing. "
            "Add --state carry, or leave it out."
        )
    if arguments.output is not None:
        return _file_to_file(arguments, arguments.output)
    if arguments.resume or arguments.format is not None:
        raise ConfigError("--resume and --format are for files, but no file was named. Add -o OUT, or leave them out.")
    if arguments.input == STDIN:
        return _print_lines(arguments)
    return _print_text(arguments)


def _file_to_file(arguments: Arguments, output: Path) -> int:
    # Here and below, so that --help does not wait for torch.
    from elmo.embed.corpus.embed_corpus import embed_corpus
    from elmo.embed.layer_choice import parse_layers
    from elmo.embed.storage.layout import format_of
    from elmo.text.sentences import check_is_text_file

    # Before the model is read, which can take a while.
    check_is_text_file(arguments.input)
    format_of(output, arguments.format)
    embedder = _embedder(arguments)
    with _Bar(arguments.quiet) as bar, _stop_signals(arguments.quiet) as stop_asked:
        report = embed_corpus(
            embedder,
            arguments.input,
            output,
            layers=parse_layers(arguments.layers),
            format=arguments.format,
            store=arguments.store,
            encoding=arguments.encoding,
            errors=arguments.errors,
            tokenizer=arguments.tokenizer,
            window=arguments.batch_rows,
            forget_sentences=arguments.forget_sentences,
            resume=arguments.resume,
            force=arguments.force,
            progress=bar.show,
            stop_asked=stop_asked,
        )
    for message in report["bad_lines"]:
        print(f"skipped: {message}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(report, indent=2))
    elif not arguments.quiet:
        print(_summary(report))
    return 1 if report["bad_lines"] else 0


def _embedder(arguments: Arguments) -> "Embedder":
    from elmo.embed.embedder import Embedder

    embedder = Embedder.from_pretrained(
        arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
        state=arguments.state,
        keep_boundaries=arguments.keep_boundaries,
        max_tokens=arguments.max_tokens,
    )
    if arguments.dtype == "auto" and not arguments.quiet:
        print(f"--dtype auto: {embedder.dtype}", file=sys.stderr)
    return embedder


def _summary(report: dict[str, Any]) -> str:
    facts = report["metadata"]
    return (
        f"{report['output']}: {report['lines']:,} lines ({report['blank_lines']:,} blank, {len(report['bad_lines']):,} "
        f"bad), {report['tokens']:,} tokens, layers {facts['layers']}, {facts['store']}, {report['bytes']:,} bytes, "
        f"{report['tokens_per_second']:,.0f} tokens/s"
    )


def _print_text(arguments: Arguments) -> int:
    from elmo.embed.layer_choice import parse_layers

    if Path(arguments.input).is_file():
        raise ConfigError(
            f"{arguments.input} is a file, but no -o says where its vectors go. Add -o OUT.h5, or print them: "
            f"elmo embed - < {arguments.input}"
        )
    tokens = named_tokenizer(arguments.tokenizer)(arguments.input)
    embedder = _embedder(arguments)
    array = embedder.embed([tokens], parse_layers(arguments.layers))[0]
    if arguments.json:
        print(json.dumps(_result(tokens, array)))
        return 0
    if arguments.keep_boundaries:
        tokens = ["<S>", *tokens, "</S>"]
    print(_table(tokens, array))
    if not arguments.quiet and not any(mark.isspace() for mark in arguments.input):
        print(f"(there is no file {arguments.input}, so it was taken for a text)", file=sys.stderr)
    return 0


def _print_lines(arguments: Arguments) -> int:
    """A line of JSON for each line of standard input, in constant memory."""
    from elmo.embed.layer_choice import parse_layers

    bad_lines: list[str] = []
    lines = read_sentences(
        STDIN,
        encoding=arguments.encoding,
        errors=arguments.errors,
        tokenize=named_tokenizer(arguments.tokenizer),
        on_bad_line=lambda _, message: bad_lines.append(message),
    )
    embedder = _embedder(arguments)
    waiting: list[list[str]] = []
    arrays = embedder.embed_iter(_noted(lines, waiting), parse_layers(arguments.layers), window=arguments.batch_rows)
    for index, array in enumerate(arrays):
        print(json.dumps({"index": index, **_result(waiting.pop(0), array)}))
    for message in bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    return 1 if bad_lines else 0


def _noted(lines: Iterator[list[str]], waiting: list[list[str]]) -> Iterator[list[str]]:
    """The lines, each put down in `waiting` until its array comes."""
    for line in lines:
        waiting.append(line)
        yield line


def _result(tokens: list[str], array: "np.ndarray") -> dict[str, Any]:
    return {"tokens": tokens, "shape": list(array.shape), "vectors": array.tolist()}


_NUMBERS_SHOWN = 4
_WIDEST_TOKEN = 24


def _table(tokens: list[str], array: "np.ndarray") -> str:
    """A line for each token: the length of its vector in each layer, and how its vector in the last one begins."""
    layers = array if array.ndim == 3 else array[None]
    width = max([len("token"), *(min(len(token), _WIDEST_TOKEN) for token in tokens)])
    names = [f"layer {index}" for index in range(len(layers))] if array.ndim == 3 else ["length"]
    begin = "begins, layer " + str(len(layers) - 1) if array.ndim == 3 else "begins"
    lines = [f"{'token':{width}}" + "".join(f"{name:>10}" for name in names) + f"   {begin}"]
    for place, token in enumerate(tokens):
        shown = token if len(token) <= _WIDEST_TOKEN else token[: _WIDEST_TOKEN - 3] + "..."
        lengths = "".join(f"{(layer[place].astype('float64') ** 2).sum() ** 0.5:>10.3f}" for layer in layers)
        start = " ".join(f"{number:7.3f}" for number in layers[-1][place][:_NUMBERS_SHOWN])
        lines.append(f"{shown:{width}}{lengths}   {start} ...")
    axes = "layers, tokens, numbers" if array.ndim == 3 else "tokens, numbers"
    return "\n".join([*lines, "", f"{axes}: {' x '.join(map(str, array.shape))}, {array.dtype}"])


class _Bar:
    """Progress with ETA on stderr: bytes while the text is counted, then tokens."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.what = ""
        self.bar: tqdm | None = None

    def show(self, what: str, done: int, total: int) -> None:
        """As `embed_corpus` tells it."""
        if what != self.what or self.bar is None:
            self.close()
            unit = "B" if what == "reading" else "tok"
            # A resumed run begins somewhere in the middle, which must not count as speed.
            self.bar = tqdm(
                desc=what, total=total, initial=done, unit=unit, unit_scale=True, disable=self.quiet, file=sys.stderr
            )
            self.what = what
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextmanager
def _stop_signals(quiet: bool) -> Iterator[Any]:
    """Gives a function that tells whether Ctrl-C or SIGTERM came; a second one ends at once."""
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        if not quiet:
            print("\nstopping after this window; once more to stop at once", file=sys.stderr)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
