"""A verb's arguments: a dataclass that `parsed` reads from the command line and checks before anything is done.

`given_options` refuses what would be ignored. Read `parse` first.
"""

from elmo.cli.arguments.parse import parsed

__all__ = ["parsed"]
