"""Files with a tag for each token, CoNLL-U or other columns -> sentences, and back in the same form.

A CoNLL-U file is recognized by its rows, and its columns have names. In other files all rows have equally many columns;
`elmo.text.formats.columns` says what separates them and which lines are comments.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from elmo.errors import ConfigError, TextError
from elmo.tasks.labelled_lines import labelled_lines, nothing_in, skipping
from elmo.tasks.ner.data import (
    TaggedSentence,
    in_documents,
    require_distinct,
    require_filled,
    require_place,
    require_two_columns,
    require_width,
    sound_blocks,
)
from elmo.tasks.pos.settings import TokenTaggerSettings
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import text_name
from elmo.text.first_look.sample import look_at
from elmo.text.formats.columns import (
    column_of_words,
    column_sentences,
    require_kept_words,
    require_words,
    why_not_words,
    words_alone,
)
from elmo.text.formats.conllu import treebank_sentences
from elmo.text.formats.signs import is_conllu
from elmo.text.reading.as_trained import as_trained
from elmo.text.reading.settings import Reading

AUTO = "auto"

_LINES_LOOKED_AT = 300
_SENTENCES_LOOKED_AT = 1000
# In CoNLL-U, "_" says that a cell has no value; that a word has no features is a value.
_MAY_BE_EMPTY = "FEATS"


@dataclass(frozen=True)
class TagSentence(TaggedSentence):
    """A sentence with a tag for each token; it has no spans."""

    text: list[str] = field(default_factory=list)
    """All lines of a sentence of CoNLL-U, as in the file; [] if it comes from elsewhere."""
    places: Sequence[int] = ()
    """The place of each token's line in `text`."""
    tag_place: int = 0
    """The column of the tags in `text`, from 0."""


def read_tagged(path: Path | str, settings: TokenTaggerSettings) -> list[TagSentence]:
    """The sentences of a file.

    Raises TextError with file and line for ragged columns, and for words without a tag; with `errors="skip"` such
    sentences are left out, and a TextWarning counts them. ConfigError for columns that the file doesn't have.
    """
    name = text_name(path)
    with skipping(path, settings.errors) as on_bad:
        lines = list(labelled_lines(path, settings.encoding, on_bad))
        of_form = _of_treebank if is_treebank(lines) else _of_columns
        sentences = list(of_form(lines, name, settings, on_bad))
    if not sentences:
        raise nothing_in(path, "sentence")
    return in_documents(sentences)


def read_untagged_treebank(
    path: Path | str, settings: TokenTaggerSettings, reading: TextReading
) -> Iterator[TagSentence]:
    """The sentences of a CoNLL-U file without regard to their tags, in constant memory. Raises as `read_tagged`."""
    lines = labelled_lines(path, reading.encoding, reading.on_bad)
    found = treebank_sentences(lines, text_name(path), reading.on_bad, format_flags=False)
    first = list(islice(found, _LINES_LOOKED_AT))
    if reading.on_look is not None:
        reading.on_look(look_at((it.tokens for it in first), Reading(tokenizer="whitespace"), text_name(path)))
    for part in (first, found):
        for sentence in part:
            if sentence.tokens:
                token_place, place = _places_in_treebank(sentence.names, settings, text_name(path))
                tokens = as_trained([sentence.text[at].split("\t")[token_place] for at in sentence.places])
                yield TagSentence(tokens, text=sentence.text, places=sentence.places, tag_place=place)


def write_tagged(pairs: Iterable[tuple[TagSentence, Sequence[str]]]) -> Iterator[str]:
    """CoNLL-U again, with the predicted tags in the column of the tags; other sentences with a line for each token: its
    columns and, last, the predicted tag, with tabs between them."""
    for sentence, tags in pairs:
        if sentence.text:
            lines = list(sentence.text)
            for place, tag in zip(sentence.places, tags, strict=True):
                cells = lines[place].split("\t")
                cells[sentence.tag_place] = tag
                lines[place] = "\t".join(cells)
            yield from lines
        else:
            rows = sentence.rows or [[token] for token in sentence.tokens]
            yield from ("\t".join([*row, tag]) for row, tag in zip(rows, tags, strict=True))
        yield ""


def is_treebank(lines: Sequence[str]) -> bool:
    """Whether a file has CoNLL-U's rows, but for a few that are wrong, or names its columns."""
    filled = [line for line in lines[:_LINES_LOOKED_AT] if line.strip()]
    rows = [line for line in filled if line[0] != "#"]
    names_columns = bool(filled) and filled[0].startswith("# global.columns")
    return names_columns or 2 * sum(is_conllu([row]) for row in rows) > len(rows)


def _of_treebank(
    lines: Sequence[str], name: str, settings: TokenTaggerSettings, on_bad: BadLine | None
) -> Iterator[TagSentence]:
    document = 0

    def begin_document() -> None:
        nonlocal document
        document += 1

    stream = treebank_sentences(lines, name, on_bad, on_new_document=begin_document, format_flags=False)
    found = [(it, [it.text[at].split("\t") for at in it.places], document) for it in stream if it.tokens]
    for number, (sentence, rows, own_document) in enumerate(found):
        token_place, place = _places_in_treebank(sentence.names, settings, name)
        if number == 0:
            require_kept_words([rows for _, rows, _ in found[:_SENTENCES_LOOKED_AT]], token_place, name)
        tags, column = [row[place] for row in rows], sentence.names[place]
        if (at := _untagged(tags, column)) is not None:
            line = sentence.numbers[at]
            message = (
                f"{name}:{line}: the word {sentence.tokens[at]!r} has no {column} ({tags[at]!r}). Fix the line, name "
                "another column with --tag-column, or leave such sentences out with --errors skip."
            )
            report(on_bad, line, message)
            continue
        yield TagSentence(
            as_trained([row[token_place] for row in rows]),
            tags=tags,
            source=name,
            lines=sentence.numbers,
            document=own_document,
            text=sentence.text,
            places=sentence.places,
            tag_place=place,
        )


def _untagged(tags: Sequence[str], column: str) -> int | None:
    empty = {""} if column == _MAY_BE_EMPTY else {"", "_"}
    return next((place for place, tag in enumerate(tags) if tag in empty), None)


def _places_in_treebank(names: Sequence[str], settings: TokenTaggerSettings, name: str) -> tuple[int, int]:
    """The columns of the tokens and of the tags, from 0."""
    tag_place = _tag_place_in_treebank(names, settings.tag_column, name)
    token_place = settings.token_column - 1 if settings.token_column else names.index("FORM")
    require_place(token_place, len(names), "token_column", name)
    return token_place, tag_place


def _tag_place_in_treebank(names: Sequence[str], column: str, name: str) -> int:
    asked = "UPOS" if column == AUTO else column.upper()
    upper = [known.upper() for known in names]
    if not asked.isdecimal() and asked not in upper:
        raise ConfigError(
            f"{name}: tag_column is {column!r}, but the columns are {', '.join(names)}. Choose one of them with "
            "--tag-column."
        )
    place = (int(asked) or len(names)) - 1 if asked.isdecimal() else upper.index(asked)
    require_place(place, len(names), "tag_column", name)
    if upper[place] in ("ID", "FORM"):
        raise ConfigError(
            f"{name}: tag_column is {column!r}, which is the column {names[place]} of a CoNLL-U file, not one of tags. "
            "Choose another one with --tag-column, such as upos or xpos."
        )
    return place


def _of_columns(
    lines: Sequence[str], name: str, settings: TokenTaggerSettings, on_bad: BadLine | None
) -> Iterator[TagSentence]:
    found = list(column_sentences(lines, name, on_bad))
    sample = [it.rows for it in found[:_SENTENCES_LOOKED_AT] if it.rows]
    if not sample:
        return
    first = next(it for it in found if it.rows)
    where, num_columns = f"{name}:{first.lines[0]}", len(first.rows[0])
    places = _places(settings, sample, where)
    require_words(sample, places[0], name, "--token-column")

    def check(row: list[str], where: str) -> None:
        require_width(row, num_columns, where)
        require_filled(row, places[0], "token", where)
        require_filled(row, places[1], "tag", where)

    blocks = (words_alone(it) if places[0] > 0 and it.rows else it for it in found)
    for it, document in sound_blocks(blocks, name, check, on_bad):
        tokens, tags = ([row[place] for row in it.rows] for place in places)
        yield TagSentence(as_trained(tokens), rows=it.rows, tags=tags, source=name, lines=it.lines, document=document)


def _places(settings: TokenTaggerSettings, sample: Sequence[Sequence[Sequence[str]]], where: str) -> tuple[int, int]:
    num_columns, tag_column = len(sample[0][0]), settings.tag_column
    require_two_columns(num_columns, "Rome PROPN", where)
    token_place = settings.token_column - 1 if settings.token_column else column_of_words(sample) or 0
    require_place(token_place, num_columns, "token_column", where)
    if tag_column == AUTO:
        tag_place = _only_column_of_tags(sample, token_place, where)
    elif tag_column.isdecimal():
        tag_place = (int(tag_column) or num_columns) - 1
    else:
        raise ConfigError(
            f"{where}: tag_column is {tag_column!r}, but only a CoNLL-U file (ten columns between tabs, the first of "
            f"which counts the words) has names of columns. Give the number of one of its {num_columns} columns."
        )
    require_place(tag_place, num_columns, "tag_column", where)
    require_distinct(token_place, tag_place, num_columns, where)
    return token_place, tag_place


def _only_column_of_tags(sample: Sequence[Sequence[Sequence[str]]], token_place: int, where: str) -> int:
    """The only column beside the tokens and their numbers; TextError if there are several."""
    others = [
        place
        for place in range(len(sample[0][0]))
        if place != token_place and not (why_not_words(sample, place) or "").startswith("counts")
    ]
    if len(others) == 1:
        return others[0]
    shown = "; ".join(f"{at + 1} ({', '.join(row[at] for row in sample[0][:3])})" for at in others)
    raise TextError(
        f"{where}: several columns could have the tags: {shown}. Say which one is learned with --tag-column."
    )
