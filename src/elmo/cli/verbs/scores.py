"""`elmo scores`: the log-probability of every sentence of a text."""

import json
import sys
from dataclasses import dataclass, field
from itertools import tee
from typing import Annotated, Any

import tyro

from elmo.cli.arguments import DeviceOption, LanguageModelOption, NoProgress, parsed
from elmo.cli.inputs import ReadingFlags, model_and_texts, text_input, vocabulary_of
from elmo.process.progress.report import Count, following
from elmo.text.reading.settings import Reading, text_files


@dataclass(frozen=True)
class Arguments:
    """Print the log probability, in nats, of every sentence of a text under each language model of a biLM, with its
    line number. Blank lines are left out."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] TEXT [TEXT ...]")]
    """Files or patterns like 'data/*.txt' (.gz, .xz, .bz2 and .zst are unpacked); - is standard input. The model may be
    named before them."""
    model: LanguageModelOption = None
    reading: ReadingFlags = field(default_factory=Reading)
    device: DeviceOption = "auto"
    json: bool = False
    """Print one JSON object per line instead of columns."""
    quiet: NoProgress = False


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "scores")
    model, names = model_and_texts(arguments.inputs, arguments.model)
    names = text_files(names)
    text = text_input(names, arguments.reading, vocabulary_of(model, quiet=arguments.quiet), quiet=arguments.quiet)
    from elmo.lm.named_model import load_language_model
    from elmo.lm.perplexity import sentence_scores

    places, read = tee(place for place in text.sentences() if place.tokens)
    found = sentence_scores(load_language_model(model, arguments.device), (place.tokens for place in read))
    # Scores that appear on a terminal show by themselves how far it is.
    with following(not arguments.quiet and not sys.stdout.isatty()) as progress:
        scored = Count(progress, "scoring", None, "sentences")
        for index, (score, place) in enumerate(zip(scored.each(found), places, strict=True)):
            values = text.place(place) | score.to_dict() | {"sentence": " ".join(place.tokens)}
            if not index and not arguments.json:
                print("\t".join(values))
            print(json.dumps(values, ensure_ascii=False) if arguments.json else _columns(values))
        scored.finish()
    return text.report_bad_lines()


def _columns(values: dict[str, Any]) -> str:
    return "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in values.values())
