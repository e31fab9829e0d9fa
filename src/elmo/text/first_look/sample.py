"""The first lines of a text: which tokenizer they ask for, and what in them would make a model's vectors poor."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from elmo.text.files.text_file import text_name
from elmo.text.first_look.composition import decomposed_words
from elmo.text.first_look.language import why_foreign
from elmo.text.first_look.punctuation import Punctuation, punctuation_of
from elmo.text.reading.placed import PlacedSentence, placed_rows, sentences_of
from elmo.text.reading.settings import AUTO, OnSkipped, Reading
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import sentence_spans

LINES_LOOKED_AT = 1000
OTHER_MODEL = "Name a model of its language with --model; 'elmo models' lists them."
_CHARACTERS_LOOKED_AT = 200_000
# Who writes line by line into a pipe should not wait long for the first vectors, unless the tokenizer must be chosen.
_LINES_OF_STREAMS = 64


@dataclass(frozen=True)
class FirstLook:
    """What the first lines look like."""

    reading: Reading
    """How the text is to be read: with the tokenizer that "auto" stands for."""
    name: str
    """Of the text, for messages."""
    punctuation: Punctuation
    sentences: list[list[str]]
    """Tokens of the first lines."""
    was_auto: bool
    num_lines: int = 0
    """Lines of text that were looked at."""
    num_with_several: int = 0
    """How many of them hold several sentences, in text that is read line by line and looks raw."""

    @property
    def note(self) -> str | None:
        """What was decided for "auto", where that changes what a space-separated word is."""
        if not self.was_auto or self.reading.tokenizer == "whitespace":
            return None
        return (
            f"{self.name} looks untokenized ({self.punctuation.example!r} is one word of it), so it is tokenized by "
            "rules (--tokenizer unicode). If its tokens are apart already, use --tokenizer whitespace."
        )

    @property
    def note_on_sentences(self) -> str | None:
        """What a model makes of lines with several sentences."""
        if not self.num_with_several:
            return None
        return (
            f"{self.num_with_several:,} of the first {self.num_lines:,} lines of {self.name} hold several sentences, "
            "but each line is read as one. Use --sentences within-lines to read them one by one."
        )

    def warnings(self, vocabulary: Sequence[str] | None = None, other_model: str = OTHER_MODEL) -> list[str]:
        """What would make the vectors poor.

        `vocabulary`: the model's words, the most frequent first, if it has any. `other_model`: how to use another one.
        """
        found = []
        if self.punctuation.is_raw and self.reading.tokenizer == "whitespace":
            found.append(
                f"{self.name} looks untokenized: {self.punctuation.example!r} is one word of it, but models know words "
                "and punctuation apart, and vectors of words that they don't know are poor. Use --tokenizer auto or "
                "unicode."
            )
        if words := decomposed_words(self.sentences):
            short = unicodedata.normalize("NFC", words[0])
            found.append(
                f"{self.name} has {len(words):,} words with letters taken apart (Unicode NFD): {short!r} is "
                f"{len(words[0])} characters there and {len(short)} in NFC, which models are trained on. Their vectors "
                "will be poor. Convert the text to NFC: unicodedata.normalize('NFC', text) in Python."
            )
        if vocabulary and (why := why_foreign(self.sentences, vocabulary)):
            found.append(f"{self.name} is not in the model's language: {why}. Its vectors will be poor. " + other_model)
        return found


def first_look(paths: Sequence[Path | str], reading: Reading, name: str = "") -> FirstLook:
    """Reads the first lines of some files; `name`: what messages call them (default: the first one's name).

    Raises what reading them raises: TextError for the first bad line, unless bad lines are skipped, or an empty file.
    """
    rows = placed_rows(paths, reading, require_content=True)
    return look_at((row.content for row in rows), reading, name or text_name(paths[0]))


def opened(
    paths: Sequence[Path | str],
    reading: Reading,
    *,
    tokenize: Tokenize | None = None,
    on_bad_line: OnSkipped | None = None,
) -> tuple[FirstLook, Iterator[PlacedSentence]]:
    """A first look at some files, and all their sentences, from one reading: for streams, which can't be read twice.

    `tokenize`: instead of the function of the tokenizer.
    """
    rows = placed_rows(paths, reading, on_bad_line=on_bad_line)
    first = list(islice(rows, LINES_LOOKED_AT if reading.tokenizer == AUTO else _LINES_OF_STREAMS))
    look = look_at((row.content for row in first), reading, text_name(paths[0]))
    return look, sentences_of(chain(first, rows), look.reading, tokenize)


def look_at(rows: Iterable[str | list[str]], reading: Reading, name: str = "the text") -> FirstLook:
    """The first look at rows in memory: texts, or lists of tokens."""
    texts: list[str] = []
    given: list[list[str]] = []
    characters = 0
    for row in islice(rows, LINES_LOOKED_AT):
        if isinstance(row, str):
            texts.append(row)
        else:
            given.append(row)
        characters += sum(map(len, row))
        if characters > _CHARACTERS_LOOKED_AT:
            break
    punctuation = punctuation_of(text.replace("\n", " ") for text in texts)
    was_auto = reading.tokenizer == AUTO
    if was_auto:
        reading = reading.with_tokenizer("unicode" if punctuation.is_raw else "whitespace")
    tokenize = reading.tokenize if reading.tokenizer in ("unicode", "whitespace") else str.split
    sentences = [*given, *(tokenize(text.replace("\n", " ")) for text in texts)]
    several = 0
    if punctuation.is_raw and reading.sentences == "lines":
        several = sum(len(sentence_spans(text)) > 1 for text in texts)
    return FirstLook(reading, name, punctuation, sentences, was_auto, len(texts), several)
