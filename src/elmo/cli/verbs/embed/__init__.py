"""`elmo embed`: text -> vectors, to a file or the screen.

It is one of three: `to_file` embeds files into a file of vectors, `_join` combines such files, `to_screen` shows the
vectors of a text. Read `options` first.
"""

from pathlib import Path

from elmo.cli.arguments import parsed
from elmo.cli.output import print_report
from elmo.cli.verbs.embed.options import Arguments, ignored, require_sense
from elmo.cli.verbs.embed.to_file import embed_files
from elmo.cli.verbs.embed.to_screen import show_lines, show_text
from elmo.text.files.text_file import STDIN


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed", ignored=ignored)
    require_sense(arguments)
    if arguments.output is None:
        return show_lines(arguments) if arguments.input == STDIN else show_text(arguments)
    if arguments.join:
        return _join(arguments, arguments.output)
    return embed_files(arguments, arguments.output)


def _join(arguments: Arguments, output: Path) -> int:
    from elmo.embed.corpus.join import join_shards

    report = join_shards(arguments.inputs, output, force=arguments.force, progress=not arguments.quiet)
    text = (
        f"{report['output']}: {report['rows']:,} rows, {report['tokens']:,} tokens of {report['shards']} shards, "
        f"{report['bytes']:,} bytes"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0
