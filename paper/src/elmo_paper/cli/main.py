"""`elmo-paper`: its verbs, run by the frame of `elmo`: the same help, errors and exit codes."""

from pathlib import Path

import elmo
import elmo_paper
from elmo.cli.main import Program
from elmo.cli.main import main as run

# Each verb is the module of its name in `verbs`, with a function `main(argv) -> int`.
VERBS: dict[str, str] = {
    "reproduce": "the paper's tables and figures, on your own files",
    "tables": "the paper's tables on open data: a queue of trainings that goes on where it was",
    "finished": "finished trainings of the queue, kept in small files, or taken up on another machine",
    "finetuned": "table 7: perplexities before and after an epoch on a task's text",
    "unseen": "where ELMo's gain is: on known words or on new ones",
    "pages": "docs/paper.md, docs/reproduction.md and docs/analysis.md, made of the records",
}

PAPER = Program(
    name="elmo-paper",
    summary="The tables and figures of the ELMo paper, repeated.",
    version=elmo.__version__,
    verbs=VERBS,
    modules="elmo_paper.cli.verbs",
    folder=Path(elmo_paper.__file__).parent,
    training=("reproduce", "tables", "finetuned", "context2vec", "cove"),
)


def main(argv: list[str] | None = None) -> int:
    """Runs `elmo-paper ARGV`; the exit code."""
    return run(argv, PAPER)
