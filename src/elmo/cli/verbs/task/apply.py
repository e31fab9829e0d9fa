"""`elmo task evaluate` and `elmo task predict`: a trained model on labelled and on unlabelled files."""

import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from elmo.cli.arguments import (
    DeviceOption,
    Force,
    NoProgress,
    OutputFile,
    Switch,
    parsed,
)
from elmo.cli.inputs import print_first_look, vocabulary_of
from elmo.cli.output import list_skipped, result_file
from elmo.cli.verbs.task.score import print_note, print_scores
from elmo.errors import WeightFileError
from elmo.tasks.registry import AnyTask, find
from elmo.tasks.saved_config import OTHER_BILM, saved_config
from elmo.tasks.task import TextReading
from elmo.text.files.text_file import STDIN, text_name
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import foreign_warning
from elmo.text.reading.settings import Reading, text_files


@dataclass(frozen=True)
class _Loading:
    """How a saved model is loaded."""

    model: str | None = None
    """Where the biLM is, if it isn't where it was in training."""
    task: str | None = None
    """package.module:TASK, the task of the model, if it isn't installed."""
    encoder: str | None = None
    """package.module:function, the encoder of the model, if it isn't installed."""
    device: DeviceOption = "auto"
    ensemble: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN [RUN ...]")] = ()
    """More models of the same task, whose probability distributions (ner: scores of tags) are averaged with the first
    RUN's."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    """Precision of the biLM's matrix products, as in 'elmo embed'."""
    force: Force = False
    json: Switch = False
    """Print JSON: the scores (evaluate), or one line for each example (predict)."""
    quiet: NoProgress = False


@dataclass(frozen=True)
class Evaluate(_Loading):
    """Score a trained model on a labelled file."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = tyro.MISSING
    """Folder of a finished run, or of a task model."""
    data: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = tyro.MISSING
    """Labelled file."""
    output: OutputFile[Path | None] = None
    """File for the predictions, in the task's official format (srl: srl-eval.pl's if the file ends in .props)."""


@dataclass(frozen=True)
class _AsInTraining(Reading):
    """Tokens of labelled files keep their marks in training."""

    plain_quotes: tyro.conf.Suppress[bool] = False


@dataclass(frozen=True)
class Predict(_Loading):
    """Predict on unlabelled input, for most tasks one sentence per line. The predictions for several files follow one
    another; with --json, each names its file."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = tyro.MISSING
    """Folder of a finished run, or of a task model."""
    text: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[FILE ...]")] = (STDIN,)
    """Unlabelled files or patterns like 'data/*.txt'; - is standard input."""
    output: OutputFile[Path | None] = None
    """File for the predictions (default: standard output). srl: .conll writes columns even for text, .props the format
    of srl-eval.pl."""
    reading: Annotated[_AsInTraining, tyro.conf.arg(name="")] = field(default_factory=_AsInTraining)


def evaluate(argv: list[str]) -> int:
    """Runs `elmo task evaluate`; the exit code."""
    arguments = parsed(Evaluate, argv, "task evaluate")
    from elmo.tasks.train.apply import evaluate
    from elmo.tasks.train.job import REMEMBERED, is_training_data

    saved = _loaded(arguments)
    # The name of the file is refused before the work, not after it.
    with result_file(arguments.output, force=arguments.force) as file:
        scores, pairs = evaluate(saved, arguments.data, progress=not arguments.quiet)
        if file is not None:
            file.writelines(line + "\n" for line in saved.task.write_file(arguments.output, pairs))
    for folder in (arguments.folder, *arguments.ensemble):
        if is_training_data(folder, arguments.data):
            print_note(f"it is the file that {folder} was trained on: {REMEMBERED}", str(arguments.data))
    print_scores(saved.task, scores, str(arguments.data), as_json=arguments.json)
    return 0


def predict(argv: list[str]) -> int:
    """Runs `elmo task predict`; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Predict, argv, "task predict")
    arguments.reading.check()
    # Before the model is loaded, so that a bad line or an odd text shows at once.
    files = unlabelled_files(arguments)
    saved = _loaded(arguments)
    from elmo.tasks.train.apply import predict

    # Predictions that appear on a terminal show by themselves how far it is.
    is_seen = arguments.output is None and sys.stdout.isatty()
    pairs = predict(saved, files.examples, progress=not arguments.quiet and not is_seen)
    if arguments.json:
        lines = (json.dumps({**files.facts(), **saved.task.to_json(*pair)}, ensure_ascii=False) for pair in pairs)
    elif arguments.output is None:
        lines = saved.task.write(pairs)
    else:
        lines = saved.task.write_file(arguments.output, pairs)
    with result_file(arguments.output, force=arguments.force) as file:
        (file or sys.stdout).writelines(line + "\n" for line in lines)
    return 1 if files.bad_lines else 0


def _loaded(arguments: Evaluate | Predict) -> Any:
    from elmo.tasks.saved_model import load_ensemble

    return load_ensemble(
        [arguments.folder, *arguments.ensemble],
        task=None if arguments.task is None else find(arguments.task),
        encoder=arguments.encoder,
        model=arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
    )


@dataclass
class UnlabelledFiles:
    """The examples of some files, one after the other."""

    names: list[str]
    is_named: bool
    """Whether a prediction says which file it belongs to."""
    examples: Iterator[Any] = iter(())
    bad_lines: int = 0
    """How many lines were skipped so far."""
    waiting: deque[str] = field(default_factory=deque)
    """The file of each example that was read, until its prediction comes."""

    def read(self, task: AnyTask, settings: Any, reading: TextReading) -> Iterator[Any]:
        """The examples."""
        for name in self.names:
            for example in task.read_unlabelled(name, settings, reading):
                if self.is_named:
                    self.waiting.append(name)
                yield example

    def skip(self, _: int, message: str) -> None:
        """Reports a line that is skipped."""
        self.bad_lines += list_skipped([message])

    def facts(self) -> dict[str, str]:
        """Which file the next prediction belongs to, if it says so."""
        return {"file": self.waiting.popleft()} if self.is_named else {}


def unlabelled_files(arguments: Predict) -> UnlabelledFiles:
    """The examples of the files, the first of them read, and warned of if it looks odd.

    Raises TextError for what can't be read, WeightFileError for a damaged config, ConfigError for an unknown task.
    """
    names, reading = text_files(arguments.text), arguments.reading
    config = saved_config(arguments.folder, None if arguments.task is None else find(arguments.task))
    task, settings = config.task, config.settings
    vocabulary = _words_of(config.bilm(arguments.model)) if settings.tokens.encoder == "elmo" else None
    found = UnlabelledFiles(names, is_named=arguments.json and len(names) > 1)
    how = TextReading(
        **vars(reading),
        on_bad_line=found.skip,
        on_look=lambda look: print_first_look(look, vocabulary, quiet=False, other_model=OTHER_BILM),
    )
    examples = found.read(task, settings, how)
    first = [example for example in [next(examples, None)] if example is not None]
    if "format" not in task.reading_flags:  # whose input has a form of its own that no look saw
        sentences = [list(sentence) for example in first for sentence in task.sentences(example)]
        if warning := foreign_warning(sentences, Language(vocabulary), text_name(names[0]), OTHER_BILM):
            print(f"warning: {warning}", file=sys.stderr)
    found.examples = chain(first, examples)
    return found


def _words_of(bilm: str | None) -> list[str] | None:
    """The biLM's words. None if there is no list of them, or no such model: loading it reports that."""
    try:
        return None if bilm is None else vocabulary_of(bilm)
    except WeightFileError:
        return None
