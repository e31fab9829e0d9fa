"""`elmo embed` without -o: the vectors of a text as a table, or a line of JSON for each sentence."""

import json
import sys
from itertools import tee
from typing import TYPE_CHECKING

from elmo.cli.inputs import print_first_look, text_input, vocabulary_of
from elmo.cli.verbs.embed.options import Arguments, is_meant_as_file, load_embedder
from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.layer_choice import parse_layers
from elmo.process.text_table import shortened, text_table
from elmo.text.files.text_file import STDIN, is_file
from elmo.text.first_look.sample import look_at
from elmo.text.reading.as_trained import plain_marks
from elmo.text.reading.placed import PlacedSentence, placed_in
from elmo.text.reading.spans import NOWHERE
from elmo.text.word_list import require_characters

if TYPE_CHECKING:
    import numpy as np

    from elmo.embed.embedder import Embedder

_VALUES_SHOWN = 4
_WIDEST_TOKEN = 24


def show_text(arguments: Arguments) -> int:
    """Shows the vectors of a text that was given as an argument; the exit code."""
    layers = parse_layers(arguments.layers)
    text = _text_to_show(arguments)
    arguments.reading.check()
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    look = look_at([text], arguments.reading)
    print_first_look(look, vocabulary, quiet=arguments.quiet)
    marks = plain_marks(vocabulary) if arguments.reading.plain_quotes else {}
    places = list(placed_in(text, arguments.reading, marks=marks))
    embedder = load_embedder(arguments)
    arrays = embedder.embed_iter([place.tokens for place in places], layers, window=arguments.batch_rows)
    for index, (place, array) in enumerate(zip(places, arrays, strict=True)):
        if arguments.json:
            print(_json_line(index, place, array, embedder))
        else:
            print(table(*_with_boundaries(place, embedder), array))
    return 0


def _text_to_show(arguments: Arguments) -> str:
    """The text that was given as an argument. Raises for what is, or must be meant to be, a file."""
    text, *others = arguments.inputs
    if others or is_file(text):
        raise ConfigError(
            f"{text} is a file, or the first of several texts, but there is no -o for the vectors. Add -o OUT.h5, "
            f"print them with elmo embed - < {text}, or put quotation marks around a text with spaces."
        )
    if not text.strip():
        raise ConfigError("the text is empty, so there is no token to show. Pass a text in quotation marks, or a file.")
    if is_meant_as_file(text):
        raise TextError(
            f"{text}: there is no such file. {paths_count_from()}; check the spelling. If it is a token "
            f"to be shown, pass it on standard input: echo '{text}' | elmo embed -"
        )
    require_characters(text)
    if not any(map(str.isspace, text)) and not arguments.quiet:
        print(f"(there is no file {text}, so it is treated as text)", file=sys.stderr)
    return text


def show_lines(arguments: Arguments) -> int:
    """A line of JSON for each sentence and blank line of standard input, in constant memory."""
    layers = parse_layers(arguments.layers)
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    text = text_input([STDIN], arguments.reading, vocabulary, quiet=arguments.quiet)
    embedder = load_embedder(arguments)
    places, read = tee(text.sentences())
    arrays = embedder.embed_iter((place.tokens for place in read), layers, window=arguments.batch_rows)
    for index, (array, place) in enumerate(zip(arrays, places, strict=True)):
        print(_json_line(index, place, array, embedder))
    return text.report_bad_lines()


def _with_boundaries(place: PlacedSentence, embedder: "Embedder") -> tuple[list[str], list[list[int]]]:
    """Tokens and spans as they belong to the vectors."""
    spans = place.spans.tolist()
    if embedder.keep_boundaries:
        spans = [list(NOWHERE), *spans, list(NOWHERE)]
    return list(embedder.with_boundaries(place.tokens)), spans


def _json_line(index: int, place: PlacedSentence, array: "np.ndarray", embedder: "Embedder") -> str:
    from elmo.embed.results.output import shortest

    tokens, spans = _with_boundaries(place, embedder)
    values = {
        "index": index,
        **({} if place.id is None else {"id": place.id}),
        "line": place.line,
        "sentence": place.sentence,
        "tokens": tokens,
        "spans": spans,
        "shape": list(array.shape),
        "vectors": shortest(array).tolist(),
    }
    return json.dumps(values, ensure_ascii=False)


def table(tokens: list[str], spans: list[list[int]], array: "np.ndarray") -> str:
    """A row per token: its place in the text, the L2 norm of its vector in each layer, and the first dimensions of the
    vector in the last."""
    has_layers = array.ndim == 3
    layers = array if has_layers else array[None]
    names = [f"layer {index}" for index in range(len(layers))] if has_layers else ["length"]
    rows = [["token", "from-to", *names]]
    for place, (token, (start, end)) in enumerate(zip(tokens, spans, strict=True)):
        lengths = [f"{(layer[place].astype('float64') ** 2).sum() ** 0.5:.3f}" for layer in layers]
        rows.append([shortened(token, _WIDEST_TOKEN), "" if start < 0 else f"{start}-{end}", *lengths])
    begin = f"begins, layer {len(layers) - 1}" if has_layers else "begins"
    begins = [begin, *(" ".join(f"{value:7.3f}" for value in vector[:_VALUES_SHOWN]) + " ..." for vector in layers[-1])]
    lines = [f"{line}   {begin}" for line, begin in zip(text_table(rows), begins, strict=True)]
    axes = "layers, tokens, dimensions" if has_layers else "tokens, dimensions"
    shape = f"{axes}: {' x '.join(map(str, array.shape))}, {array.dtype}"
    named = "layer 0 ..." if has_layers else "length"
    return "\n".join([*lines, "", shape, f"{named}: L2 norm of the vector; from-to: characters of the text"])
