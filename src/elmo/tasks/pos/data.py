"""Files with a tag for each token, CoNLL-U or other columns -> sentences, and back in the same form.

A CoNLL-U file is recognized by its rows, and its columns have names.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from elmo.errors import ConfigError, TextError
from elmo.setting_checks import Chance
from elmo.tasks.columns import TaggedSentence, in_documents, tagged_rows, write_columns
from elmo.tasks.lines import labelled_lines, nothing_in, skipping
from elmo.tasks.settings import CharacterSettings, LabelSettings, SizeOrNone, Sizes, TaskSettings
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import text_name
from elmo.text.first_look.sample import look_at
from elmo.text.formats.conllu import treebank_sentences
from elmo.text.formats.structure import is_conllu
from elmo.text.reading.as_trained import as_trained
from elmo.text.reading.settings import Reading

AUTO = "auto"


@dataclass(frozen=True)
class TokenTaggerSettings(LabelSettings, CharacterSettings):
    """Data and network of the tagger."""

    tag_column: str = AUTO
    """Column of the tags: its name in a CoNLL-U file (upos, xpos, deprel, feats), or its number, counted from 1.
    auto: upos in a CoNLL-U file. In other files, auto is the other one of two columns, and 0 the last one."""
    token_column: SizeOrNone = 0
    """Column of the tokens, counted from 1; 0: FORM in a CoNLL-U file, the first one in others."""
    hidden_sizes: Sizes = (200,)
    """Hidden units of each biLSTM layer in each direction, from the lowest layer to the highest."""
    dropout: Chance = 0.5
    """Dropout on each biLSTM layer's input and on the output of the top one, with the same mask for all tokens of a
    sentence."""
    character_filters: SizeOrNone = 128
    """Filters of the model's own char CNN, which is trained with the task; 0: no char CNN."""


@dataclass(frozen=True)
class PosSettings(TaskSettings):
    """All settings of `elmo task train pos`."""

    tagger: TokenTaggerSettings = field(default_factory=TokenTaggerSettings)


_LINES_LOOKED_AT = 300
# In CoNLL-U, "_" says that a cell has no value; that a word has no features is a value.
_MAY_BE_EMPTY = "FEATS"


@dataclass(frozen=True)
class TreebankSentence(TaggedSentence):
    """A sentence of CoNLL-U with a tag for each token."""

    text: list[str] = field(default_factory=list)
    """All of its lines, as in the file."""
    places: Sequence[int] = ()
    """The place of each token's line in `text`."""
    tag_place: int = 0
    """The column of the tags in `text`, from 0."""


def read_tagged(path: Path | str, settings: TokenTaggerSettings) -> list[TaggedSentence]:
    """The sentences of a file.

    Raises TextError with file and line for ragged columns, and for words without a tag; with `errors="skip"` such
    sentences are left out, and a TextWarning counts them. ConfigError for columns that the file doesn't have.
    """
    name = text_name(path)
    with skipping(path, settings.errors) as on_bad:
        lines = list(labelled_lines(path, settings.encoding, on_bad))
        of_form = _of_treebank if is_treebank(lines) else _of_columns
        sentences = of_form(lines, name, settings, on_bad)
    if not sentences:
        raise nothing_in(path, "sentence")
    return sentences


def read_untagged_treebank(
    path: Path | str, settings: TokenTaggerSettings, reading: TextReading
) -> Iterator[TreebankSentence]:
    """The sentences of a CoNLL-U file without regard to their tags, in constant memory. Raises as `read_tagged`."""
    lines, name = labelled_lines(path, reading.encoding, reading.on_bad), text_name(path)
    found = treebank_sentences(lines, name, reading.on_bad)
    first = list(islice(found, _LINES_LOOKED_AT))
    if reading.on_look is not None:
        reading.on_look(look_at((it.tokens for it in first), Reading(tokenizer="whitespace"), name))
    for part in (first, found):
        for sentence in part:
            if sentence.tokens:
                token_place, place = _places(sentence.names, settings, name)
                tokens = as_trained([sentence.text[at].split("\t")[token_place] for at in sentence.places])
                yield TreebankSentence(tokens, text=sentence.text, places=sentence.places, tag_place=place)


def write_tagged(pairs: Iterable[tuple[TaggedSentence, Sequence[str]]]) -> Iterator[str]:
    """CoNLL-U again, with the predicted tags in the column of the tags; other sentences as `write_columns` has them,
    with tabs."""
    for sentence, tags in pairs:
        if not isinstance(sentence, TreebankSentence):
            yield from write_columns([(sentence, tags)], "\t")
            continue
        lines = list(sentence.text)
        for place, tag in zip(sentence.places, tags, strict=True):
            cells = lines[place].split("\t")
            cells[sentence.tag_place] = tag
            lines[place] = "\t".join(cells)
        yield from lines
        yield ""


def is_treebank(lines: Sequence[str]) -> bool:
    """Whether a file has CoNLL-U's rows, but for a few that are wrong, or names its columns."""
    filled = [line for line in lines[:_LINES_LOOKED_AT] if line.strip()]
    rows = [line for line in filled if line[0] != "#"]
    names_columns = bool(filled) and filled[0].startswith("# global.columns")
    return names_columns or 2 * sum(is_conllu([row]) for row in rows) > len(rows)


def _of_treebank(
    lines: Sequence[str], name: str, settings: TokenTaggerSettings, on_bad: BadLine | None
) -> list[TaggedSentence]:
    document = 0

    def begin_document() -> None:
        nonlocal document
        document += 1

    found: list[TaggedSentence] = []
    for sentence in treebank_sentences(lines, name, on_bad, on_new_document=begin_document):
        if not sentence.tokens:
            continue
        rows = [sentence.text[at].split("\t") for at in sentence.places]
        token_place, place = _places(sentence.names, settings, name)
        tags, column = [row[place] for row in rows], sentence.names[place]
        if (at := _untagged(tags, column)) is not None:
            line = sentence.numbers[at]
            message = (
                f"{name}:{line}: the word {sentence.tokens[at]!r} has no {column} ({tags[at]!r}). Fix the line, name "
                "another column with --tag-column, or leave such sentences out with --errors skip."
            )
            report(on_bad, line, message)
            continue
        found.append(
            TreebankSentence(
                as_trained([row[token_place] for row in rows]),
                tags=tags,
                source=name,
                lines=sentence.numbers,
                document=document,
                text=sentence.text,
                places=sentence.places,
                tag_place=place,
            )
        )
    return in_documents(found)


def _untagged(tags: Sequence[str], column: str) -> int | None:
    empty = {""} if column == _MAY_BE_EMPTY else {"", "_"}
    return next((place for place, tag in enumerate(tags) if tag in empty), None)


def _places(names: Sequence[str], settings: TokenTaggerSettings, name: str) -> tuple[int, int]:
    """The columns of the tokens and of the tags in CoNLL-U, from 0."""
    asked = "UPOS" if settings.tag_column == AUTO else settings.tag_column.upper()
    known = [column.upper() for column in names]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    column = asked if asked in known else known[numbers.index(asked)] if asked in numbers else None
    if column in (None, "ID", "FORM") or settings.token_column > len(names):
        raise ConfigError(
            f"{name}: tag_column is {settings.tag_column!r} and token_column {settings.token_column}, but the columns "
            f"are {', '.join(names)}, of which ID and FORM have no tags. Choose another one with --tag-column, such as "
            "upos or xpos."
        )
    return (settings.token_column or known.index("FORM") + 1) - 1, known.index(column)


def _of_columns(
    lines: Sequence[str], name: str, settings: TokenTaggerSettings, on_bad: BadLine | None
) -> list[TaggedSentence]:
    column = settings.tag_column
    if column != AUTO and not column.isdecimal():
        raise ConfigError(
            f"{name}: tag_column is {column!r}, but only a CoNLL-U file (ten columns between tabs, the first of which "
            "counts the words) has names of columns. Give the number of a column."
        )
    tokens = settings.token_column or 1
    found = tagged_rows(lines, name, tokens, (3 - tokens) % 3 if column == AUTO else int(column), on_bad)
    if column == AUTO and found and len(found[0].rows[0]) > 1:
        raise TextError(
            f"{name}: has {len(found[0].rows[0]) + 1} columns, so several could have the tags. Say which one is "
            "learned with --tag-column, and which one has the tokens with --token-column, counted from 1."
        )
    return found
