"""`elmo scores`: the log-probability of every sentence of a text."""

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.cli.language_model import load
from elmo.process.device import Device
from elmo.text.sentences import read_sentences


@dataclass(frozen=True)
class Arguments:
    """Print how probable each language model of a biLM finds every sentence, in nats: a line for each line of the text,
    blank ones included."""

    model: Annotated[str, tyro.conf.Positional]
    """A name, a folder or file, or a hub id; the model needs a softmax."""
    text: Annotated[str, tyro.conf.Positional]
    """One tokenized sentence per line; .gz, .xz and .bz2 are unpacked; - is standard input."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What a line that isn't valid text does: stop, or be listed and skipped."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print one JSON object per line instead of columns."""
    quiet: bool = False
    """No progress."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = tyro.cli(Arguments, args=argv, prog="elmo scores", config=(tyro.conf.FlagCreatePairsOff,))
    bilm, head = load(arguments.model, arguments.device)
    # Here, so that --help does not wait for torch.
    from elmo.lm.sentence_scores import sentence_scores

    bad_lines: list[str] = []
    sentences = read_sentences(
        arguments.text,
        encoding=arguments.encoding,
        errors=arguments.errors,
        on_bad_line=lambda _, message: bad_lines.append(message),
    )
    found = sentence_scores(bilm, head, sentences)
    for index, score in enumerate(tqdm(found, unit="sentence", disable=arguments.quiet, file=sys.stderr)):
        values = score.to_dict()
        if arguments.json:
            print(json.dumps(values))
        else:
            print(_columns(values) if index else "\t".join(values) + "\n" + _columns(values))
    for message in bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    return 1 if bad_lines else 0


def _columns(values: dict[str, Any]) -> str:
    return "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in values.values())
