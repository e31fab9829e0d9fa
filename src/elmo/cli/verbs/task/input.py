"""The input of `elmo task predict`: files of unlabelled examples, looked at before a model is loaded."""

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from elmo.cli.arguments.given_options import options_of, refuse_ignored
from elmo.cli.report import list_skipped
from elmo.cli.text_input import say, vocabulary_of
from elmo.errors import WeightFileError
from elmo.tasks.registry import AnyTask
from elmo.tasks.saved_config import OTHER_BILM, saved_config
from elmo.tasks.task import TextReading
from elmo.text.files.text_file import text_name
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import foreign_warning
from elmo.text.reading.settings import AUTO, Reading


@dataclass
class UnlabelledFiles:
    """The examples of some files, one after the other."""

    names: list[str]
    examples: Iterator[Any] = iter(())
    bad_lines: int = 0
    """How many lines were skipped so far."""
    waiting: deque[str] = field(default_factory=deque)
    """The file of each example that was read, until its prediction comes."""

    def read(self, task: AnyTask, settings: Any, reading: TextReading) -> Iterator[Any]:
        """The examples; the file of each is put into `waiting`."""
        for name in self.names:
            for example in task.read_unlabelled(name, settings, reading):
                self.waiting.append(name)
                yield example

    def skip(self, _: int, message: str) -> None:
        """Reports a line that is skipped."""
        self.bad_lines += list_skipped([message])

    def facts(self) -> dict[str, str]:
        """Which file the next prediction belongs to; nothing if there is only one file."""
        name = self.waiting.popleft()
        return {"file": name} if len(self.names) > 1 else {}


def unlabelled_files(
    names: list[str],
    reading: Reading,
    folder: Path,
    given: AnyTask | None = None,
    model: str | None = None,
    options: Sequence[str] = (),
) -> UnlabelledFiles:
    """The examples of `names` for the task model in `folder`, the first of them read, and warned of if it looks odd.

    `options`: those that were given. Raises TextError for what can't be read, WeightFileError for a damaged config,
    ConfigError for an unknown task, and for an option that its input has no use for.
    """
    config = saved_config(folder, given)
    task, settings = config.task, config.settings
    _require_heeded(task, options)
    vocabulary = _words_of(config.bilm(model)) if settings.tokens.encoder == "elmo" else None
    found = UnlabelledFiles(names)
    how = TextReading(
        str.split if reading.tokenizer == AUTO else reading.tokenize,
        reading.encoding,
        reading.errors,
        found.skip,
        reading.format,
        reading.field,
        reading.sentences,
        on_look=lambda look: say(look, vocabulary, quiet=False, other_model=OTHER_BILM),
        is_auto=reading.tokenizer == AUTO,
    )
    examples = found.read(task, settings, how)
    first = [example for example in [next(examples, None)] if example is not None]
    if "format" not in task.reading_flags:  # whose input has a form of its own that no look saw
        sentences = [list(sentence) for example in first for sentence in task.sentences(example)]
        if warning := foreign_warning(sentences, Language(vocabulary), text_name(names[0]), OTHER_BILM):
            print(f"warning: {warning}", file=sys.stderr)
    found.examples = chain(first, examples)
    return found


def _require_heeded(task: AnyTask, options: Sequence[str]) -> None:
    heeded = [f"--{name}" for name in task.reading_flags]
    why = f"for the task {task.name!r}, whose input has a format of its own and heeds {' and '.join(heeded)} only"
    refuse_ignored(options, options_of(Reading) - set(heeded), why, "convert the input to that format")


def _words_of(bilm: str | None) -> list[str] | None:
    """The biLM's words. None if there is no list of them, or no such model, of which loading it says more."""
    try:
        return None if bilm is None else vocabulary_of(bilm)
    except WeightFileError:
        return None
