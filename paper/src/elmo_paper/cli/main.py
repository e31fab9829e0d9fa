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
    "wsd": "word senses by the nearest sense vector (table 5), and by the first and most frequent one",
    "pos": "parts of speech by a linear probe of each layer (table 6), with a control task",
    "precision": "how many of a word's nearest occurrences have its sense, over many queries (table 4, counted)",
    "geometry": "cosines of tokens, of one word's occurrences, of a sentence's words; likeness of layers",
    "glove": "train GloVe's static vectors of a text",
    "mssg": "train vectors of words' senses, MSSG's and NP-MSSG's",
    "context2vec": "train context2vec, a model of the contexts of words",
    "cove": "train CoVe, a translation system's encoder",
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
