"""`elmo embed`: text -> vectors, to a file or the screen."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.errors import ConfigError, TextError
from elmo.process.device import Device
from elmo.text.sentences import read_sentences
from elmo.text.text_file import STDIN, is_file, is_stream
from elmo.text.tokenizer import tokenizer as named_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from tqdm import tqdm

    from elmo.embed.embedder import Embedder


@dataclass(frozen=True)
class Arguments:
    """Turn text into a vector for every token. With -o, a file of sentences becomes a file of vectors. Without it, a
    text in quotation marks is shown as a table, and - prints one JSON object per line of standard input."""

    input: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")]
    """With -o: a file with one tokenized sentence per line (.gz, .xz, .bz2 and .zst are unpacked), a pipe, or - for
    standard input. Without -o: a text, or -."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File to make: .h5 or .hdf5 (as AllenNLP's), .parquet or .npy."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"])] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    layers: str = "all"
    """all, average, top, an index (0 is the token layer, -1 the top), or weights like 0.2,0.3,0.5 taken as they are."""
    format: Literal["hdf5", "parquet", "npy"] | None = None
    """Format of the file (default: by its ending)."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    """Precision of matrix products. auto: bfloat16 where this processor is fast in it, else float32."""
    store: Literal["float32", "float16"] = "float32"
    """Type of the stored vectors."""
    state: Literal["zero", "warm", "carry"] = "zero"
    """State that every sentence starts from: zeros, the model's warm state, or, as in the originals, the state after
    the sentence in the same row of the batch before."""
    batch_rows: int | None = None
    """With --state carry: rows of a batch (default: 64). Line k continues line k - batch_rows."""
    tokenizer: Literal["whitespace", "unicode"] = "whitespace"
    """How a line becomes tokens: at whitespace, or by rules for text that isn't tokenized."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What to do at a line that is not valid text: stop, or list it and go on (it gets no vectors)."""
    keep_boundaries: bool = False
    """Keep the vectors of <S> and </S> around each sentence."""
    forget_sentences: bool = False
    """Leave the sentences themselves out of an HDF5 file."""
    max_tokens: int | None = None
    """Tokens in a batch (default: 2048 on a CPU, 16384 on a GPU)."""
    device: Device = "auto"
    """Where to compute."""
    resume: bool = False
    """Continue a killed or interrupted run. Everything it left is checked first."""
    force: bool = False
    """Replace an existing file and discard an unfinished one. With --resume: discard it only if it is damaged."""
    json: bool = False
    """Print the report, or the vectors of a text, as JSON."""
    quiet: bool = False
    """No progress and no report."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed")
    if arguments.batch_rows is not None and arguments.state != "carry":
        raise ConfigError(
            f"--batch-rows is {arguments.batch_rows}, but --state is {arguments.state}, in which rows have no effect. "
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
    # Here and below, so that --help does not wait for torch; and before torch and a model are loaded, which takes
    # seconds, everything that can be checked without them.
    from elmo.embed.corpus.places import check_places
    from elmo.embed.layer_names import parse_layers

    check_places(arguments.input, output, arguments.format, resume=arguments.resume, force=arguments.force)
    layers = parse_layers(arguments.layers)
    model = arguments.model
    if model is not None and is_file(output) and is_file(model) and output.samefile(model):
        raise ConfigError(f"{output}: is the model's own file and would be replaced. Choose another output.")
    _check_first_lines(arguments)
    from elmo.embed.corpus.embed_corpus import embed_corpus

    embedder = _embedder(arguments)
    with _Bar(arguments.quiet) as bar, _stop_signals(arguments.quiet) as stop_asked:
        report = embed_corpus(
            embedder,
            arguments.input,
            output,
            layers=layers,
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
    if "begun_anew" in report:
        print(f"begun anew, because of --force: {report['begun_anew']}", file=sys.stderr)
    for message in report["bad_lines"]:
        print(f"skipped: {message}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(report, indent=2))
    elif not arguments.quiet:
        print(_summary(report))
    return 1 if report["bad_lines"] else 0


def _check_first_lines(arguments: Arguments) -> None:
    """Raises for a bad encoding, or a bad line among the first: the whole text is read later."""
    if is_stream(arguments.input):
        return
    lines = read_sentences(arguments.input, encoding=arguments.encoding, errors=arguments.errors, require_content=True)
    for _ in islice(lines, _LINES_LOOKED_AT):
        pass


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
    from elmo.embed.layer_names import parse_layers

    layers = parse_layers(arguments.layers)
    tokens = _tokens_to_show(arguments)
    embedder = _embedder(arguments)
    array = embedder.embed([tokens], layers)[0]
    if arguments.json:
        print(json.dumps(_result(tokens, array)))
        return 0
    if arguments.keep_boundaries:
        tokens = ["<S>", *tokens, "</S>"]
    print(_table(tokens, array))
    return 0


def _tokens_to_show(arguments: Arguments) -> list[str]:
    """The tokens of a text that was given as an argument. Raises for what is, or must be meant to be, a file."""
    text = arguments.input
    if is_file(text):
        raise ConfigError(
            f"{text} is a file, but no -o says where its vectors go. Add -o OUT.h5, or print them: "
            f"elmo embed - < {text}"
        )
    if not text.strip():
        raise ConfigError("the text is empty, so there is no token to show. Pass a text in quotation marks, or a file.")
    if not any(character.isspace() for character in text):
        if Path(text).suffix.lower() in _FILE_ENDINGS or "/" in text:
            raise TextError(
                f"{text}: there is no such file. Paths count from {Path.cwd()}; check the spelling. If it is a token "
                f"to be shown, pass it on standard input: echo '{text}' | elmo embed -"
            )
        if not arguments.quiet:
            print(f"(there is no file {text}, so it is taken for a text)", file=sys.stderr)
    return named_tokenizer(arguments.tokenizer)(text)


def _print_lines(arguments: Arguments) -> int:
    """A line of JSON for each line of standard input, in constant memory."""
    from elmo.embed.layer_names import parse_layers

    layers = parse_layers(arguments.layers)
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
    arrays = embedder.embed_iter(_noted(lines, waiting), layers, window=arguments.batch_rows)
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


_LINES_LOOKED_AT = 1000
_FILE_ENDINGS = (".txt", ".text", ".jsonl", ".ndjson", ".conllu", ".csv", ".tsv", ".gz", ".xz", ".bz2", ".zst", ".md")
_UNITS = {"reading": "B", "checking": "line", "embedding": "tok"}
_NUMBERS_SHOWN = 4
_WIDEST_TOKEN = 24


def _table(tokens: list[str], array: "np.ndarray") -> str:
    """A row per token: the L2 norm of its vector in each layer, and the first dimensions of the vector in the last."""
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
    axes = "layers, tokens, dimensions" if array.ndim == 3 else "tokens, dimensions"
    shape = f"{axes}: {' x '.join(map(str, array.shape))}, {array.dtype}"
    columns = "layer 0 ..." if array.ndim == 3 else "length"
    return "\n".join([*lines, "", shape, f"{columns}: L2 norm of the vector"])


class _Bar:
    """Progress with ETA on stderr: bytes while the text is counted, lines while what is resumed is checked, tokens."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.what = ""
        self.bar: tqdm | None = None

    def show(self, what: str, done: int, total: int) -> None:
        """As `embed_corpus` calls it."""
        if what != self.what or self.bar is None:
            self.close()
            from tqdm import tqdm  # here, because a text that is shown has no bar

            unit = _UNITS[what]
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
    """Gives a function that says whether Ctrl-C or SIGTERM came; a second one ends the run at once."""
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
