"""`elmo embed`: text -> vectors, to a file or the screen.

`options` has all that can be asked for. Then it is one of three: `to_file` embeds files into a file of vectors, `join`
combines such files, `to_screen` shows the vectors of a text. Read `options` first.
"""

from elmo.cli.arguments import parsed
from elmo.cli.verbs.embed.join import join
from elmo.cli.verbs.embed.options import Arguments, require_sense
from elmo.cli.verbs.embed.to_file import embed_files
from elmo.cli.verbs.embed.to_screen import show_lines, show_text
from elmo.text.files.text_file import STDIN


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "embed", require_sense=require_sense)
    if arguments.output is None:
        return show_lines(arguments) if arguments.input == STDIN else show_text(arguments)
    if arguments.join:
        return join(arguments, arguments.output)
    return embed_files(arguments, arguments.output)
