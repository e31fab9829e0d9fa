"""`elmo embed`: text -> vectors, to a file or the screen.

`embed_files` makes a file of vectors, `to_screen` shows those of a text. Read `options` first.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

from elmo.cli.arguments import parsed
from elmo.cli.output import list_skipped, print_report
from elmo.cli.verbs.embed.options import Arguments, load_embedder
from elmo.cli.verbs.embed.to_screen import show_lines, show_text
from elmo.layer_choice import parse_layers
from elmo.process.progress.report import SILENT
from elmo.process.stop_flag import stop_flag
from elmo.text.files.text_file import STDIN

_TELLING_SECONDS = 3.0


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed")
    if arguments.output is None:
        return show_lines(arguments) if arguments.inputs[0] == STDIN else show_text(arguments)
    return embed_files(arguments, arguments.output)


def embed_files(arguments: Arguments, output: Path) -> int:
    """Embeds the inputs into the output; the exit code."""
    from elmo.embed.corpus.embed_corpus import embed_corpus

    layers = parse_layers(arguments.layers)
    if not output.parent.exists() and not arguments.quiet:
        print(f"note: there is no folder {output.parent}, so it is made", file=sys.stderr)
    with stop_flag() as flag:
        report = embed_corpus(
            partial(load_embedder, arguments),
            arguments.inputs,
            output,
            layers=layers,
            to=arguments.to,
            store=arguments.store,
            **vars(arguments.reading),
            window=arguments.batch_rows if arguments.state == "carry" else None,
            forget_sentences=arguments.forget_sentences,
            pool=arguments.pool,
            compress=arguments.compress,
            workers=arguments.workers,
            resume=arguments.resume,
            force=arguments.force,
            progress=SILENT if arguments.quiet else True,
            stop_asked=lambda: flag.signal is not None,
        )
    code = list_skipped(report["bad_lines"])
    print_report(report, _summary(report), as_json=arguments.json, quiet=arguments.quiet)
    return code


def _summary(report: dict[str, Any]) -> str:
    facts, rows = report["metadata"], report["lines"]
    # The first seconds are spent on loading: they say nothing about speed.
    speed = f", {report['tokens_per_second']:,.0f} tokens/s" if report["seconds"] >= _TELLING_SECONDS else ""
    return (
        f"{report['output']}: {rows:,} {'row' if rows == 1 else 'rows'} ({report['blank_lines']:,} blank, "
        f"{len(report['bad_lines']):,} bad), {report['tokens']:,} tokens, layers {facts['layers']}, {facts['store']}, "
        f"{report['bytes']:,} bytes{speed}"
    )
