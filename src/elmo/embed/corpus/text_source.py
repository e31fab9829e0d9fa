"""TextSource: the text of a run: its files, and how they are read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from elmo.errors import ConfigError, TextError
from elmo.text.files.text_file import Format, text_name
from elmo.text.first_look.sample import FirstLook, first_look
from elmo.text.formats.form import form_of
from elmo.text.reading.as_trained import Marks
from elmo.text.reading.placed import PlacedSentence, placed_sentences
from elmo.text.reading.settings import Reading
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import tokenizer_code, tokenizer_name


@dataclass(frozen=True)
class TextSource:
    """Files of text and how they become rows: sentences, and blank lines."""

    paths: tuple[Path, ...]
    reading: Reading
    tokenize: Tokenize | None = None
    """A function, instead of the tokenizer that `reading` names."""
    marks: Marks = field(default_factory=dict)
    """The typographic marks that the model reads as plain ones."""
    given_as: str = ""
    """How the caller named it, if `paths` is where what can be read only once is kept."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return text_name(self.given_as or self.paths[0])

    @property
    def tokenizer_name(self) -> str:
        """As it is written into metadata."""
        return self.reading.tokenizer if self.tokenize is None else tokenizer_name(self.tokenize)

    @cached_property
    def code(self) -> str | None:
        """Of a tokenizer of the user's own, the hash of its code; None for others."""
        name = self.reading.tokenizer
        return tokenizer_code(self.tokenize or name) if self.tokenize is not None or ":" in name else None

    @cached_property
    def formats(self) -> list[Format]:
        """Of each file, as it is read."""
        reading = self.reading
        return [form_of(path, reading.format, reading.field, reading.encoding).format for path in self.paths]

    @property
    def has_ids(self) -> bool:
        """Whether every row is a record with an id. ConfigError if some are."""
        if "fasta" in self.formats and set(self.formats) != {"fasta"}:
            other = self.formats.index(next(it for it in self.formats if it != "fasta"))
            raise ConfigError(
                f"{self.paths[self.formats.index('fasta')]} is FASTA, but {self.paths[other]} is "
                f"{self.formats[other]}: proteins have ids, and other texts have none to tell their vectors by. "
                "Embed them separately."
            )
        return "fasta" in self.formats

    def in_callers_words(self, message: str) -> str:
        """A message about `paths`, in the caller's words."""
        return message.replace(str(self.paths[0]), text_name(self.given_as)) if self.given_as else message

    def first_look(self) -> FirstLook:
        """What its first lines look like. TextError for a bad or empty text."""
        try:
            return first_look(self.paths, self.reading, self.name)
        except TextError as error:
            raise TextError(self.in_callers_words(str(error))) from None

    def rows(
        self,
        on_bad_line: Callable[[int, str], None] | None = None,
        on_bytes: Callable[[int], object] | None = None,
    ) -> Iterator[PlacedSentence]:
        """Its rows. `on_bad_line(line, message)`, `on_bytes(bytes)`: as in `read_sentences`."""
        return placed_sentences(
            self.paths,
            self.reading,
            tokenize=self.tokenize,
            marks=self.marks,
            on_bad_line=on_bad_line,
            require_content=True,
            on_bytes=on_bytes,
        )
