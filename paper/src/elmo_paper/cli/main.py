"""`elmo-paper`: its verbs, run by the frame of `elmo`: the same help, errors and exit codes."""

from pathlib import Path

import elmo
import elmo_paper
from elmo.cli.main import Program
from elmo.cli.main import main as run

# Each verb is the module of its name in `verbs`, with a function `main(argv) -> int`.
VERBS: dict[str, str] = {}

PAPER = Program(
    name="elmo-paper",
    summary="The tables and figures of the ELMo paper, repeated.",
    version=elmo.__version__,
    verbs=VERBS,
    modules="elmo_paper.cli.verbs",
    folder=Path(elmo_paper.__file__).parent,
    training=("reproduce", "context2vec", "cove"),
)


def main(argv: list[str] | None = None) -> int:
    """Runs `elmo-paper ARGV`; the exit code."""
    return run(argv, PAPER)
