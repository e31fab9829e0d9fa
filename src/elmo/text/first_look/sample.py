"""The first lines of a text: which tokenizer they ask for, and what in them would make a model's vectors poor.

`FirstLook` describes one text; `ModelReader` gives each warning once for texts that come one call after the other.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from elmo.errors import TextWarning
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.first_look.language import Language
from elmo.text.first_look.plain_text import other_form
from elmo.text.formats.fasta import FastaRecord
from elmo.text.punctuation import SPECIAL_TOKEN, Punctuation, as_example, punctuation_of
from elmo.text.reading.as_trained import Marks, as_trained, composed
from elmo.text.reading.placed import PlacedSentence, placed_as_one, placed_rows, sentences_of
from elmo.text.reading.settings import AUTO, Reading
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import sentence_spans
from elmo.text.tokenizer import tokenizer as named_tokenizer

LINES_LOOKED_AT = 1000
OTHER_MODEL = "Use a model of its language; 'elmo models' lists them."
_CHARACTERS_LOOKED_AT = 200_000
_NUCLEOTIDES = frozenset("ACGTUN")
_FEWEST_NUCLEOTIDES = 50  # short peptides may have no others
# A program that writes line by line into a pipe shouldn't wait long for vectors, unless the tokenizer must be chosen.
_LINES_OF_STREAMS = 64
# Of each of many files.
_LINES_OF_EACH = 20


@dataclass(frozen=True)
class FirstLook:
    """What the first lines look like."""

    reading: Reading
    """How the text is to be read: with the tokenizer that "auto" stands for."""
    name: str
    """Of the text, for messages."""
    punctuation: Punctuation
    sentences: list[list[str]]
    """Tokens of the first lines, as a model reads them but for its marks."""
    words: list[str]
    """The words between spaces in the first lines."""
    was_auto: bool
    num_lines: int = 0
    """Lines of text that were looked at."""
    num_with_several: int = 0
    """How many of them hold several sentences, in text that is read line by line and looks raw."""
    is_fasta: bool = False
    """Whether the sentences are proteins, of letters."""
    texts: Sequence[str] = ()
    """The first ones, as they are written."""

    @property
    def note(self) -> str | None:
        """What was decided for "auto", where that changes what a space-separated word is."""
        if not self.was_auto or self.reading.tokenizer == "whitespace" or not self.punctuation.example:
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
        """Warnings of what would make the vectors poor, and of what is read differently from how it is written.

        `vocabulary`: the model's words, the most frequent first, if it has any. `other_model`: how to use another one.
        """
        return list(self.findings(Language(vocabulary), other_model).values())

    def findings(self, language: Language, other_model: str = OTHER_MODEL) -> dict[str, str]:
        """The warnings by what they are about."""
        found = {
            "tokenizer": self._on_tokenizer(),
            "composition": self._on_composition(),
            "marks": self._on_marks(language),
            "special tokens": self._on_special_tokens(language),
            "form": None
            if self.is_fasta
            else other_form(self.texts, self.sentences, self.name, are_lines=self.num_lines > 0),
            "language": self._on_proteins(language)
            if self.is_fasta
            else foreign_warning(self.sentences, language, self.name, other_model),
        }
        return {about: message for about, message in found.items() if message}

    def _on_tokenizer(self) -> str | None:
        if not (self.punctuation.is_raw and self.reading.tokenizer == "whitespace"):
            return None
        return (
            f"{self.name} looks untokenized: {self.punctuation.example!r} is one word of it, but models know words "
            "and punctuation apart, and vectors of words that they don't know are poor. Use the tokenizer auto or "
            "unicode."
        )

    def _on_composition(self) -> str | None:
        words = [word for word in self.words if composed(word)[1] is not None]
        if not words:
            return None
        return (
            f"{self.name} has {len(words):,} words, such as {as_example(composed(words[0])[0])!r}, that are not in "
            f"Unicode's composed form (NFC), which models are trained on. It is read in NFC."
        )

    def _on_marks(self, language: Language) -> str | None:
        if not self.reading.plain_quotes or all(map(str.isascii, self.words)) or not language.marks:
            return None
        letters = chain.from_iterable(composed(word)[0] for word in self.words)
        counts = Counter(mark for mark in letters if mark.translate(language.marks) != mark)
        if not counts:
            return None
        shown = {mark: mark if mark.isprintable() else f"U+{ord(mark):04X}" for mark, _ in counts.most_common(12)}
        read = ", ".join(f"{name} as {mark.translate(language.marks) or 'nothing'}" for mark, name in shown.items())
        return (
            f"{self.name} has typographic marks or letters that the model's vocabulary doesn't have. They are read as "
            f"its training text has them: {read}. Set plain_quotes to false (--no-plain-quotes) to leave them as they "
            "are."
        )

    def _on_special_tokens(self, language: Language) -> str | None:
        counts = Counter(
            match.group()
            for word in self.words
            if "]" in word or ">" in word
            for match in SPECIAL_TOKEN.finditer(word)
            if match.group() not in language.words
        )
        if not counts:
            return None
        unknown = next((token for token in counts if "unk" in token.lower()), None)
        remedy = (
            f"Write the word itself for {unknown}, or <UNK> if it is lost; remove others" if unknown else "Remove them"
        )
        return (
            f"{self.name} has {', '.join(counts)}, special tokens of other models. ELMo doesn't know them and reads "
            f"them as words: each gets a vector, and changes those of the words beside it. {remedy}; padding and "
            "sentence boundaries are added as they are needed."
        )

    def _on_proteins(self, language: Language) -> str | None:
        letters = {letter for sentence in self.sentences for letter in sentence}
        if language.has_words:
            return (
                f"{self.name} has proteins, but the model has read words. Its vectors will be poor. Use a model of "
                "proteins, such as seqvec."
            )
        if letters <= _NUCLEOTIDES and sum(map(len, self.sentences)) >= _FEWEST_NUCLEOTIDES:
            return (
                f"{self.name} has no letters but {' '.join(sorted(letters))}: it looks like DNA or RNA, which a model "
                "of proteins reads as alanine, cysteine, glycine and threonine. Translate it first."
            )
        return None


def foreign_warning(
    sentences: Sequence[Sequence[str]], language: Language, name: str, other_model: str = OTHER_MODEL
) -> str | None:
    """The warning about sentences that are not in the language of a model; None: nothing shows that they aren't.

    `name`: of the text; `other_model`: how to use another model.
    """
    if not (why := language.why_foreign(sentences)):
        return None
    return f"{name} is not in the model's language: {why}. Its vectors will be poor. {other_model}"


def first_look(paths: Sequence[Path | str], reading: Reading, name: str = "") -> FirstLook:
    """Reads the first lines of some files; `name`: what messages call them (default: the first one's name).

    Raises what reading them raises: TextError for the first bad line, unless bad lines are skipped, or an empty file.
    """
    rows = placed_rows(paths, reading, require_content=True)
    look = look_at((row.content for row in rows), reading, name or text_name(paths[0]))
    if (
        len(paths) > 1
        and look.reading != reading
        and not all(_is_tokenized(path, reading, len(paths)) for path in paths)
    ):
        # Each sentence of such texts is looked at by itself.
        return replace(look, reading=reading)
    return look


def _is_tokenized(path: Path | str, reading: Reading, num_paths: int) -> bool:
    """Whether a file of several could be split at its spaces; one of lists of tokens could."""
    rows = islice(placed_rows([path], reading), max(_LINES_OF_EACH, LINES_LOOKED_AT // num_paths))
    texts = [row.content for row in rows]
    is_text = any(isinstance(text, str) for text in texts)
    return not is_text or look_at(texts, reading).punctuation.is_tokenized


def opened(
    paths: Sequence[Path | str],
    reading: Reading,
    *,
    marks: Marks | None = None,
    on_bad_line: BadLine | None = None,
) -> tuple[FirstLook, Iterator[PlacedSentence]]:
    """A first look at some files, and all their sentences, from one reading: for streams, which can't be read twice.

    `marks`: as for `placed_sentences`.
    """
    rows = placed_rows(paths, reading, on_bad_line=on_bad_line)
    first = list(islice(rows, LINES_LOOKED_AT if reading.tokenizer == AUTO else _LINES_OF_STREAMS))
    look = look_at((row.content for row in first), reading, text_name(paths[0]))
    return look, sentences_of(chain(first, rows), look.reading, marks=marks)


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
    lines = [composed(text.replace("\n", " "))[0] for text in texts]
    punctuation = punctuation_of(lines, named_tokenizer("unicode"))
    was_auto = reading.tokenizer == AUTO
    if was_auto and punctuation.is_tokenized:
        reading = replace(reading, tokenizer="whitespace")
    tokenize = reading.tokenize if reading.tokenizer in (AUTO, "unicode", "whitespace") else str.split
    sentences = [as_trained(tokens) for tokens in (*given, *map(tokenize, lines))]
    words = [word for row in (*given, *map(str.split, texts)) for word in row]
    several = 0
    if punctuation.is_raw and reading.sentences == "lines":
        several = sum(len(sentence_spans(text)) > 1 for text in texts)
    is_fasta = any(isinstance(row, FastaRecord) for row in given)
    return FirstLook(reading, name, punctuation, sentences, words, was_auto, len(texts), several, is_fasta, texts)


class ModelReader:
    """Texts -> tokens as a model reads them. The tokens of a text never depend on other texts."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._said: set[str] = set()

    def marks(self, plain_quotes: bool = True) -> Marks:
        """The typographic marks that are read as plain ones."""
        return self._language.marks if plain_quotes else {}

    def tokens(
        self,
        texts: Sequence[str | Sequence[str]],
        tokenizer: str | Tokenize = AUTO,
        *,
        plain_quotes: bool = True,
    ) -> list[list[str]]:
        """The tokens of each text; a list of tokens is one too. Warns as `look`.

        `tokenizer`: a name known to `text.tokenizer`, or a function. `plain_quotes`: whether typographic marks are read
        as plain ones.
        """
        split = named_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
        marks = self.marks(plain_quotes)
        name = tokenizer if isinstance(tokenizer, str) else "text"
        found = [
            placed_as_one(text, split, marks, name).tokens if isinstance(text, str) else as_trained(list(text), marks)
            for text in texts
        ]
        self.look(texts, found, Reading(tokenizer=name, plain_quotes=plain_quotes))
        return found

    def look(
        self,
        texts: Sequence[str | Sequence[str]],
        sentences: Sequence[Sequence[str]],
        reading: Reading,
        warn: Callable[[str], object] | None = None,
    ) -> list[str]:
        """Warns of what would make the vectors of the texts poor, or is read differently from how it is written.

        Each kind is reported once. `sentences`: their tokens. `warn`: default: a Python warning, `TextWarning`.
        Returns everything that was found, also what had been reported before.
        """
        first = list(islice(texts, LINES_LOOKED_AT))
        raw = [text for text in first if isinstance(text, str)]
        is_split = reading.tokenizer == "whitespace"
        look = FirstLook(
            reading,
            "the text",
            punctuation_of(raw, named_tokenizer("unicode")) if is_split else Punctuation(),
            [as_trained(list(tokens)) for tokens in islice(sentences, LINES_LOOKED_AT)],
            [word for text in first for word in (text.split() if isinstance(text, str) else text)],
            was_auto=False,
            texts=raw,
        )
        warn = warn or (lambda message: warnings.warn(message, TextWarning, stacklevel=6))
        findings = look.findings(self._language)
        for about, message in findings.items():
            if about not in self._said:
                self._said.add(about)
                warn(message)
        return list(findings.values())
