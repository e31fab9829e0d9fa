"""`elmo embed`: text -> vectors, to a file or the screen.

`embed_files` makes a file of vectors, `to_screen` shows those of a text. Read `options` first.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elmo.cli.arguments import parsed
from elmo.cli.inputs import print_first_look, vocabulary_of
from elmo.cli.output import list_skipped, print_report
from elmo.cli.verbs.embed.options import Arguments, checked_layers, load_embedder, require_sense
from elmo.cli.verbs.embed.to_screen import show_lines, show_text
from elmo.errors import ConfigError
from elmo.process.stop_flag import stop_flag
from elmo.text.files.text_file import STDIN, is_file, is_stream
from elmo.text.first_look.sample import first_look
from elmo.text.reading.settings import require_used_field, text_files


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed")
    require_sense(arguments)
    if arguments.output is None:
        return show_lines(arguments) if arguments.inputs[0] == STDIN else show_text(arguments)
    return embed_files(arguments, arguments.output)


def embed_files(arguments: Arguments, output: Path) -> int:
    """Embeds the inputs into the output; the exit code."""
    from elmo.embed.corpus.embed_corpus import embed_corpus
    from elmo.embed.corpus.places import check_places
    from elmo.embed.storage.text_columns import names_of_files

    names = text_files(arguments.inputs)
    require_used_field(names, arguments.reading.format, arguments.reading.field)
    layers = checked_layers(arguments)
    # Loading a model takes seconds, so what the texts and options show is refused before.
    names_of_files(names)
    check_places(names, output, arguments.to, resume=arguments.resume, force=arguments.force)
    model = arguments.model
    if model is not None and is_file(output) and is_file(model) and output.samefile(model):
        raise ConfigError(f"{output}: is the model's own file and would be replaced. Choose another output.")
    printed = _printed_of(names, arguments)
    if not output.parent.exists() and not arguments.quiet:
        print(f"note: there is no folder {output.parent}, so it is made", file=sys.stderr)
    embedder = load_embedder(arguments)
    with stop_flag() as flag:
        report = embed_corpus(
            embedder,
            names,
            output,
            layers=layers,
            to=arguments.to,
            store=arguments.store,
            **vars(arguments.reading),
            window=arguments.batch_rows,
            forget_sentences=arguments.forget_sentences,
            pool=arguments.pool,
            compress=arguments.compress,
            workers=arguments.workers,
            resume=arguments.resume,
            force=arguments.force,
            progress=not arguments.quiet,
            stop_asked=lambda: flag.signal is not None,
            warn=lambda message: message in printed or print(f"warning: {message}", file=sys.stderr),
        )
    code = list_skipped(report["bad_lines"])
    print_report(report, _summary(report), as_json=arguments.json, quiet=arguments.quiet)
    return code


def _printed_of(names: Sequence[str], arguments: Arguments) -> set[str]:
    """Prints what a first look at the texts found, and gives it back; nothing of a stream."""
    vocabulary = vocabulary_of(arguments.model, quiet=arguments.quiet)
    if is_stream(names[0]):
        return set()
    look = first_look(names, arguments.reading)
    print_first_look(look, vocabulary, quiet=arguments.quiet)
    return {look.note or "", *look.warnings(vocabulary)}


def _summary(report: dict[str, Any]) -> str:
    facts = report["metadata"]
    return (
        f"{report['output']}: {report['lines']:,} rows ({report['blank_lines']:,} blank, {len(report['bad_lines']):,} "
        f"bad), {report['tokens']:,} tokens, layers {facts['layers']}, {facts['store']}, {report['bytes']:,} bytes, "
        f"{report['tokens_per_second']:,.0f} tokens/s"
    )
