"""How a verb of `elmo-paper` reads its arguments: as one of `elmo`, under its own name and with its own examples."""

from functools import partial

from elmo.cli import arguments
from elmo_paper.cli.examples import EXAMPLES

parsed = partial(arguments.parsed, program="elmo-paper", examples=EXAMPLES)
