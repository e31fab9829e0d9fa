"""`elmo embed`: text -> vectors, to a file or the screen."""

import json
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.display_width import padded, shortened, width
from elmo.cli.early_checks import As
from elmo.cli.given_options import options_of, refuse_ignored
from elmo.cli.report import list_skipped, print_report
from elmo.cli.text_input import ReadingFlags, say, text_input, vocabulary_of
from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.process.device import Device
from elmo.process.stop_flag import stop_flag
from elmo.text.first_look.sample import first_look, look_at
from elmo.text.reading.placed import PlacedSentence, placed_in
from elmo.text.reading.settings import Reading, TextForm, text_files
from elmo.text.reading.spans import NOWHERE
from elmo.text.text_file import STDIN, is_file, is_stream

if TYPE_CHECKING:
    import numpy as np

    from elmo.embed.embedder import Embedder
    from elmo.embed.layer_names import Layers


@dataclass(frozen=True)
class Arguments:
    """Turn text into a vector for every token. With -o, the vectors of a text go into a file, together with the tokens
    and their positions in the text. Without it, the vectors of a quoted text are shown as a table, and - reads standard
    input and prints one JSON object per sentence."""

    inputs: Annotated[tuple[str, ...], As("unchecked"), tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """With -o: files or patterns like 'data/*.txt' (.gz, .xz, .bz2 and .zst are unpacked), a pipe, or - for standard
    input. Without -o: a text, or -."""
    output: Annotated[Path | None, As("unchecked"), tyro.conf.arg(aliases=["-o"])] = None
    """File to write: .h5 or .hdf5 (AllenNLP's layout), .parquet or .npy."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"])] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    layers: str = "all"
    """all, average, top, an index (0 is the token layer, -1 the top), or weights like 0.2,0.3,0.5, which are used as
    they are (no softmax)."""
    reading: ReadingFlags = field(default_factory=Reading)
    to: Literal["hdf5", "parquet", "npy"] | None = None
    """Format of the file of vectors (default: by the ending of the file)."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    """Precision of matrix products. auto: bfloat16 if this processor is fast with it, else float32."""
    store: Literal["float32", "float16"] = "float32"
    """Type of the stored vectors."""
    state: Literal["zero", "warm", "carry"] = "zero"
    """State that every sentence starts from. zero: zeros; warm: the model's warm state; carry: as in the originals, the
    state after the sentence in the same row of the previous batch."""
    batch_rows: int | None = None
    """With --state carry: number of rows in a batch (default: 64). Sentence k continues sentence k - batch_rows."""
    keep_boundaries: bool = False
    """Keep the vectors of <S> and </S> around each sentence."""
    forget_sentences: bool = False
    """Leave all words out of the file, and store only their positions in the text."""
    max_tokens: int | None = None
    """Maximum number of tokens in a batch (default: 8192 on a CPU, 16384 on a GPU)."""
    shard: Annotated[str | None, tyro.conf.arg(metavar="I/N")] = None
    """Embed the I-th of N parts of the text, for N machines; --join combines the files."""
    join: bool = False
    """Join the files that --shard made from one text: the inputs. The result is the same as that of a single run."""
    device: Device = "auto"
    """Where to compute."""
    resume: bool = False
    """Continue a killed or interrupted run. Everything that it left is checked first."""
    force: bool = False
    """Replace an existing file and discard an unfinished one. With --resume: discard it only if it is damaged."""
    json: bool = False
    """Print the report, or the vectors of a text, as JSON."""
    quiet: bool = False
    """Show no progress and no report; warnings are still shown."""

    @property
    def input(self) -> str:
        """The first of the inputs."""
        return self.inputs[0]


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed", require_sense=_require_sense)
    if arguments.join:
        return _join(arguments)
    if arguments.output is not None:
        return _file_to_file(arguments, arguments.output)
    if arguments.input == STDIN:
        return _print_lines(arguments)
    return _print_text(arguments)


_OF_JOINING = {"--join", "--output", "--force", "--json", "--quiet"}
_OF_FILES = {"--resume", "--force", "--to", "--shard", "--store", "--forget-sentences"}


def _require_sense(arguments: Arguments, given: list[str]) -> None:
    if not arguments.inputs:
        raise ConfigError("no text was given. Name files, or pass a text in quotation marks: elmo embed TEXT")
    if arguments.join:
        why = "together with --join, which combines files of vectors as they are and embeds nothing"
        refuse_ignored(given, set(given) - _OF_JOINING, why, "embed the text again with --shard and these options")
        if arguments.output is None:
            raise ConfigError("--join needs an output file. Add -o OUT, with the ending of the shards.")
        return
    if arguments.state != "carry":
        why = f"with --state {arguments.state}, with which rows have no effect"
        refuse_ignored(given, ("--batch-rows",), why, "add --state carry")
    arguments.reading.check()
    if arguments.output is None:
        _require_sense_without_output(arguments, given)


def _require_sense_without_output(arguments: Arguments, given: list[str]) -> None:
    refuse_ignored(given, _OF_FILES, "without -o, so there is no file to write", "add -o OUT")
    if len(arguments.inputs) > 1:
        raise ConfigError(
            f"{len(arguments.inputs)} texts were given, but there is no -o for their vectors. Add -o OUT.h5, or put "
            "quotation marks around a text with spaces."
        )
    if arguments.input != STDIN and not is_file(arguments.input) and not _is_meant_as_file(arguments.input):
        of_files = options_of(TextForm) | {"--encoding", "--errors"}
        refuse_ignored(given, of_files, "with a quoted text, which is read from no file", "name a file and -o OUT")


def _join(arguments: Arguments) -> int:
    assert arguments.output is not None  # as _require_sense has seen
    from elmo.embed.corpus.join import join_shards

    report = join_shards(arguments.inputs, arguments.output, force=arguments.force, progress=not arguments.quiet)
    text = (
        f"{report['output']}: {report['rows']:,} rows, {report['tokens']:,} tokens of {report['shards']} shards, "
        f"{report['bytes']:,} bytes"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0


def _file_to_file(arguments: Arguments, output: Path) -> int:
    names = text_files(arguments.inputs)
    layers = _checked_layers(arguments, names, output)
    said = _said_of(names, arguments)
    # Here, so that --help and the checks do not wait for a model.
    from elmo.embed.corpus.embed_corpus import embed_corpus

    embedder = _embedder(arguments)
    reading = arguments.reading
    with stop_flag() as flag:
        report = embed_corpus(
            embedder,
            names,
            output,
            layers=layers,
            to=arguments.to,
            store=arguments.store,
            format=reading.format,
            field=reading.field,
            sentences=reading.sentences,
            tokenizer=reading.tokenizer,
            encoding=reading.encoding,
            errors=reading.errors,
            window=arguments.batch_rows,
            forget_sentences=arguments.forget_sentences,
            shard=arguments.shard,
            resume=arguments.resume,
            force=arguments.force,
            progress=not arguments.quiet,
            stop_asked=lambda: flag.signal is not None,
            warn=lambda message: message in said or print(f"warning: {message}", file=sys.stderr),
        )
    if "begun_anew" in report:
        print(f"started again because of --force: {report['begun_anew']}", file=sys.stderr)
    for path in report.get("left_behind", ()):
        print(f"note: {path} stays: no run of elmo made it, so it and its folder were not removed", file=sys.stderr)
    code = list_skipped(report["bad_lines"])
    print_report(report, _summary(report), as_json=arguments.json, quiet=arguments.quiet)
    return code


def _checked_layers(arguments: Arguments, names: Sequence[str], output: Path) -> "Layers":
    """The layers, when everything was checked that needs no model, which takes seconds to load."""
    # Here, so that --help does not wait for it.
    from elmo.embed.corpus.places import check_places
    from elmo.embed.corpus.shards import Shard
    from elmo.embed.layer_names import parse_layers
    from elmo.embed.storage.text_columns import names_of_files

    check_places(names, output, arguments.to, resume=arguments.resume, force=arguments.force)
    names_of_files(names)
    layers = parse_layers(arguments.layers)
    if arguments.shard is not None:
        Shard.of(arguments.shard)
    model = arguments.model
    if model is not None and is_file(output) and is_file(model) and output.samefile(model):
        raise ConfigError(f"{output}: is the model's own file and would be replaced. Choose another output.")
    _check_layers(layers, model)
    return layers


def _said_of(names: Sequence[str], arguments: Arguments) -> set[str]:
    """What a first look at the texts found, which is printed; of a stream nothing."""
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    if is_stream(names[0]):
        return set()
    look = first_look(names, arguments.reading)
    say(look, vocabulary, quiet=arguments.quiet)
    return {look.note or "", *look.warnings(vocabulary)}


def _check_layers(layers: "Layers", model: str | None) -> None:
    """Raises if there is no such model, or its config shows that it hasn't these layers."""
    from elmo.embed.layer_names import layer_weights
    from elmo.weights.describe import outline

    if (num_layers := outline(model).num_layers) is not None:
        layer_weights(layers, num_layers)


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
        f"{report['output']}: {report['lines']:,} rows ({report['blank_lines']:,} blank, {len(report['bad_lines']):,} "
        f"bad), {report['tokens']:,} tokens, layers {facts['layers']}, {facts['store']}, {report['bytes']:,} bytes, "
        f"{report['tokens_per_second']:,.0f} tokens/s"
    )


def _print_text(arguments: Arguments) -> int:
    from elmo.embed.layer_names import parse_layers

    layers = parse_layers(arguments.layers)
    text = _text_to_show(arguments)
    _check_layers(layers, arguments.model)
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    look = look_at([text], arguments.reading)
    say(look, vocabulary, quiet=arguments.quiet)
    places = list(placed_in(text, look.reading))
    embedder = _embedder(arguments)
    arrays = embedder.embed_iter([place.tokens for place in places], layers, window=arguments.batch_rows)
    for index, (place, array) in enumerate(zip(places, arrays, strict=True)):
        if arguments.json:
            print(_json_line(index, place, array, embedder))
        else:
            print(_table(*_with_boundaries(place, embedder), array))
    return 0


def _text_to_show(arguments: Arguments) -> str:
    """The text that was given as an argument. Raises for what is, or must be meant to be, a file."""
    text = arguments.input
    if is_file(text):
        raise ConfigError(
            f"{text} is a file, but there is no -o for its vectors. Add -o OUT.h5, or print them: elmo embed - < {text}"
        )
    if not text.strip():
        raise ConfigError("the text is empty, so there is no token to show. Pass a text in quotation marks, or a file.")
    if _is_meant_as_file(text):
        raise TextError(
            f"{text}: there is no such file. {paths_count_from()}; check the spelling. If it is a token "
            f"to be shown, pass it on standard input: echo '{text}' | elmo embed -"
        )
    if not any(map(str.isspace, text)) and not arguments.quiet:
        print(f"(there is no file {text}, so it is treated as text)", file=sys.stderr)
    return text


def _is_meant_as_file(text: str) -> bool:
    """Whether it looks like the name of a file."""
    return not any(map(str.isspace, text)) and (Path(text).suffix.lower() in _FILE_ENDINGS or "/" in text)


def _print_lines(arguments: Arguments) -> int:
    """A line of JSON for each sentence and blank line of standard input, in constant memory."""
    from elmo.embed.layer_names import parse_layers

    layers = parse_layers(arguments.layers)
    _check_layers(layers, arguments.model)
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    text = text_input([STDIN], arguments.reading, vocabulary, quiet=arguments.quiet)
    embedder = _embedder(arguments)
    waiting: deque[PlacedSentence] = deque()
    arrays = embedder.embed_iter(_noted(text.sentences(), waiting), layers, window=arguments.batch_rows)
    for index, array in enumerate(arrays):
        print(_json_line(index, waiting.popleft(), array, embedder))
    return text.report_bad_lines()


def _noted(places: Iterator[PlacedSentence], waiting: deque[PlacedSentence]) -> Iterator[list[str]]:
    """The tokens of the sentences, each of which is put into `waiting` until its array comes."""
    for place in places:
        waiting.append(place)
        yield place.tokens


def _with_boundaries(place: PlacedSentence, embedder: "Embedder") -> tuple[list[str], list[list[int]]]:
    """Tokens and spans as they belong to the vectors."""
    spans = place.spans.tolist()
    if embedder.keep_boundaries:
        spans = [list(NOWHERE), *spans, list(NOWHERE)]
    return list(embedder.with_boundaries(place.tokens)), spans


def _json_line(index: int, place: PlacedSentence, array: "np.ndarray", embedder: "Embedder") -> str:
    from elmo.embed.results.shortest_digits import shortest

    tokens, spans = _with_boundaries(place, embedder)
    values = {
        "index": index,
        "line": place.line,
        "sentence": place.sentence,
        "tokens": tokens,
        "spans": spans,
        "shape": list(array.shape),
        "vectors": shortest(array).tolist(),
    }
    return json.dumps(values, ensure_ascii=False)


_FILE_ENDINGS = (
    *(".txt", ".text", ".md", ".jsonl", ".ndjson", ".conll", ".conllu", ".csv", ".tsv"),
    *(".gz", ".xz", ".bz2", ".zst"),
)
_VALUES_SHOWN = 4
_WIDEST_TOKEN = 24


def _table(tokens: list[str], spans: list[list[int]], array: "np.ndarray") -> str:
    """A row per token: its place in the text, the L2 norm of its vector in each layer, and the first dimensions of the
    vector in the last."""
    layers = array if array.ndim == 3 else array[None]
    shown = [shortened(token, _WIDEST_TOKEN) for token in tokens]
    columns = max(map(width, ("token", *shown)))
    names = [f"layer {index}" for index in range(len(layers))] if array.ndim == 3 else ["length"]
    begin = "begins, layer " + str(len(layers) - 1) if array.ndim == 3 else "begins"
    lines = [f"{padded('token', columns)} {'from-to':>9}" + "".join(f"{name:>10}" for name in names) + f"   {begin}"]
    for place, (token, (start, end)) in enumerate(zip(shown, spans, strict=True)):
        lengths = "".join(f"{(layer[place].astype('float64') ** 2).sum() ** 0.5:>10.3f}" for layer in layers)
        values = " ".join(f"{value:7.3f}" for value in layers[-1][place][:_VALUES_SHOWN])
        span = "" if start < 0 else f"{start}-{end}"
        lines.append(f"{padded(token, columns)} {span:>9}{lengths}   {values} ...")
    axes = "layers, tokens, dimensions" if array.ndim == 3 else "tokens, dimensions"
    shape = f"{axes}: {' x '.join(map(str, array.shape))}, {array.dtype}"
    named = "layer 0 ..." if array.ndim == 3 else "length"
    return "\n".join([*lines, "", shape, f"{named}: L2 norm of the vector; from-to: characters of the text"])
