"""The text and the model that a verb is given: which files, how they are read, and warnings before a model is loaded.

`elmo VERB TEXT` uses the default model, `elmo VERB MODEL TEXT` and `elmo VERB TEXT -m MODEL` the one that is named.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.output import list_skipped
from elmo.text.files.text_file import is_file, is_stream
from elmo.text.first_look.sample import OTHER_MODEL, FirstLook, first_look, look_at, opened
from elmo.text.reading.as_trained import Marks, plain_marks
from elmo.text.reading.placed import PlacedSentence, placed_sentences
from elmo.text.reading.settings import Reading, TextForm, text_files
from elmo.weights.hub import Model, resolve
from elmo.weights.native.read import read_vocabulary

ReadingFlags = Annotated[Reading, tyro.conf.arg(name="")]
"""The flags of `Reading`, alike in all verbs that read text."""
FormFlags = Annotated[TextForm, tyro.conf.arg(name="")]
"""The flags of verbs that read one tokenized sentence per line."""

_WEIGHT_FILES = (".hdf5", ".h5", ".safetensors", ".json", ".pkl", ".index")


@dataclass
class TextInput:
    """A text that was found readable."""

    paths: list[str]
    reading: Reading
    """With the tokenizer that "auto" chose."""
    marks: Marks = field(default_factory=dict)
    """The typographic marks that the model reads as plain ones."""
    bad_lines: list[str] = field(default_factory=list)
    """Messages about the lines that the last reading skipped."""
    stream: Iterator[PlacedSentence] | None = None

    @property
    def name(self) -> str:
        """Its name in tables and reports."""
        return "stdin" if self.paths == ["-"] else " ".join(self.paths)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        return self.stream is not None

    def sentences(self) -> Iterator[PlacedSentence]:
        """All sentences and blank lines with their places; of a stream only once."""
        if self.stream is not None:
            return self.stream
        self.bad_lines.clear()
        return placed_sentences(self.paths, self.reading, marks=self.marks, on_bad_line=self.note)

    def place(self, sentence: PlacedSentence) -> dict[str, str | int]:
        """Where a sentence is, for people and programs: its line, and of several files also its file."""
        file = {"file": self.paths[sentence.file]} if len(self.paths) > 1 else {}
        return file | {"line": sentence.line}

    def note(self, _: int, message: str) -> None:
        """Remembers the message about a line that is skipped."""
        self.bad_lines.append(message)

    def report_bad_lines(self) -> int:
        """Lists them on standard error; the exit code."""
        return list_skipped(self.bad_lines)


def text_input(
    names: Sequence[str], reading: Reading, vocabulary: Sequence[str] | None = None, *, quiet: bool = False
) -> TextInput:
    """The text of these files; warns of what looks odd in its first lines. `vocabulary`: the model's words.

    Raises ConfigError for settings that make no sense, TextError for what can't be read.
    """
    reading.check()
    found = TextInput(text_files(names), reading, plain_marks(vocabulary) if reading.plain_quotes else {})
    if is_stream(found.paths[0]):
        look, found.stream = opened(found.paths, reading, marks=found.marks, on_bad_line=found.note)
    else:
        look = first_look(found.paths, reading)
    found.reading = look.reading
    print_first_look(look, vocabulary, quiet=quiet)
    return found


def print_first_look(
    look: FirstLook,
    vocabulary: Sequence[str] | None,
    *,
    quiet: bool,
    other_model: str = OTHER_MODEL,
) -> None:
    """Prints on standard error what a first look found. Warnings are printed even if notes are not."""
    for note in (look.note, look.note_on_sentences):
        if note and not quiet:
            print(f"note: {note}", file=sys.stderr)
    for warning in look.warnings(vocabulary, other_model):
        print(f"warning: {warning}", file=sys.stderr)


def warn_of_tokens(sentence: Sequence[str], vocabulary: Sequence[str] | None) -> None:
    """Prints on standard error what makes the vectors of a sentence poor. `vocabulary`: the model's words."""
    print_first_look(look_at([list(sentence)], Reading(), "the sentence"), vocabulary, quiet=True)


def vocabulary_of(model: Model, *, quiet: bool = False) -> list[str] | None:
    """The words that a model predicts, the most frequent first, if there is such a list: read in milliseconds.

    A published model is downloaded at its first use; `quiet`: without a bar.
    Raises WeightFileError if there is no such model, before anything heavy is loaded.
    """
    files = resolve(model, progress=not quiet)
    return None if isinstance(files, tuple) else read_vocabulary(files)


def model_and_texts(inputs: Sequence[str], model: str | None) -> tuple[str | None, list[str]]:
    """The model and the texts out of the positional arguments `[MODEL] TEXT [TEXT ...]` and the flag --model.

    The first of several is a model unless --model names one, or it is a file that isn't one of weights, or a pattern.
    """
    first, *rest = inputs
    is_text = is_file(first) and Path(first).suffix.lower() not in _WEIGHT_FILES
    if model is not None or not rest or is_text or has_magic(first):
        return model, list(inputs)
    return first, rest
