"""`elmo scores`: the log-probability of every sentence of a text."""

import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.cli.arguments import parsed
from elmo.cli.early_checks import As, check_language_model
from elmo.cli.language_model import ModelFlag, load, model_and_input
from elmo.process.device import Device
from elmo.text.sentences import read_sentences
from elmo.text.text_file import check_is_text_file


@dataclass(frozen=True)
class Arguments:
    """Print how probable each language model of a biLM finds every sentence of a text, in nats, with its line number.
    Blank lines are left out."""

    inputs: Annotated[tuple[str, ...], As("unchecked"), tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] TEXT")]
    """A text of one tokenized sentence per line; .gz, .xz and .bz2 are unpacked; - is standard input. The model may be
    named before it."""
    model: ModelFlag = None
    """A name, a folder or file, or a hub id; it needs a softmax (default: $ELMO_MODEL, or the bundled model)."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What happens at a line that isn't valid text: strict: stop; skip: list and skip it."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print one JSON object per line instead of columns."""
    quiet: bool = False
    """No progress."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "scores")
    model, text = model_and_input(arguments.inputs, arguments.model, "scores")
    check_is_text_file(text)
    check_language_model(model)
    bilm, head = load(model, arguments.device)
    # Here, so that --help does not wait for torch.
    from elmo.lm.sentence_scores import sentence_scores

    bad_lines: list[str] = []
    lines = read_sentences(
        text,
        encoding=arguments.encoding,
        errors=arguments.errors,
        on_bad_line=lambda _, message: bad_lines.append(message),
    )
    waiting: deque[tuple[int, list[str]]] = deque()
    found = sentence_scores(bilm, head, _noted(lines, waiting))
    # A bar between the lines of a log or a pipe would only be in the way.
    shown = sys.stderr.isatty() and not arguments.quiet
    with tqdm(found, unit="sentence", disable=not shown, file=sys.stderr, leave=False) as bar:
        for index, score in enumerate(bar):
            line, sentence = waiting.popleft()
            values = {"line": line, **score.to_dict(), "sentence": " ".join(sentence)}
            if not index and not arguments.json:
                bar.write("\t".join(values), file=sys.stdout)
            bar.write(json.dumps(values, ensure_ascii=False) if arguments.json else _columns(values), file=sys.stdout)
    for message in bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    return 1 if bad_lines else 0


def _noted(lines: Iterator[list[str]], waiting: deque[tuple[int, list[str]]]) -> Iterator[list[str]]:
    """The lines that aren't blank; each waits with its number, from 1, for its score."""
    for number, sentence in enumerate(lines, start=1):
        if sentence:
            waiting.append((number, sentence))
            yield sentence


def _columns(values: dict[str, Any]) -> str:
    return "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in values.values())
