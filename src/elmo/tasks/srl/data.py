"""Sentences with their predicates and roles, read from CoNLL columns or marked text, and written as columns."""

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Literal

from elmo.errors import TextError
from elmo.setting_checks import Chance, from_to
from elmo.tasks.lines import TextLine, labelled_lines, nothing_in, reporting, skipping, text_lines
from elmo.tasks.settings import MOST_LAYERS, FileSettings, FitSettings, Size, TaskSettings, TokenSettings
from elmo.tasks.srl.columns import (
    NOTHING,
    ColumnSentence,
    LayoutName,
    column_of_spans,
    first_nested,
    has_predicates,
    read_sentences_of_columns,
    spans_of_column,
)
from elmo.tasks.tags import Span
from elmo.tasks.task import TextReading
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import is_stream


@dataclass(frozen=True)
class LabelerSettings(FileSettings):
    """Data and network of the role labeler."""

    layout: Literal["auto", "conll2012", "conll2005", "props"] = "auto"
    """Columns of the files. conll2012: as in OntoNotes; conll2005: word, predicate or "-", one column per predicate;
    props: the same without words, only for scoring; auto: conll2012 by the file's first lines, props by its name."""
    num_layers: Annotated[int, from_to(1, MOST_LAYERS)] = 4
    """Layers of the LSTM, which alternate between left to right and right to left. The paper has 8."""
    hidden_size: Size = 128
    """Units of each layer. The paper has 300."""
    recurrent_dropout: Chance = 0.1
    """Dropout on the state that a layer passes from token to token, with one mask for all tokens of a sentence."""
    indicator_dim: Size = 50
    """Dimensions of the vector that indicates whether a token belongs to the predicate. The paper has 100."""
    find_predicates: bool = True
    """Whether a small biLSTM also learns which tokens are predicates, for text in which they are not marked. It doesn't
    affect the labeler's own network."""


@dataclass(frozen=True)
class SrlSettings(TaskSettings):
    """All settings of `elmo task train srl`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(elmo_dropout=0.1))
    fit: FitSettings = field(
        default_factory=lambda: FitSettings(epochs=12, patience=3, batch_size=80, max_length=100, decay="linear")
    )
    labeler: LabelerSettings = field(default_factory=LabelerSettings)


PREDICATE = "V"
"""The label of a predicate's own span."""

MARK = "/V"
"""Follows a predicate in marked text: "She gave/V me a book"."""


@dataclass(frozen=True)
class Proposition:
    """A predicate and its arguments."""

    predicate: tuple[int, int]
    """Its first token, and the one after its last."""
    spans: Sequence[Span] = ()
    """The labeled spans in order, without overlap; the predicate's own is "V". Empty: unknown."""


Roles = Sequence[Proposition]
"""A prediction: each of a sentence's predicates with its labeled spans, its own ("V") among them."""


@dataclass(frozen=True)
class RoleSentence:
    """A sentence with its propositions, in the order of their columns."""

    tokens: list[str]
    propositions: Sequence[Proposition] = ()
    predicates: Sequence[tuple[int, int]] | None = None
    """All predicates of the sentence, also those whose propositions are left out here; None: still to be found."""
    columns: ColumnSentence | None = None
    """Where it was read from; None for text."""


def read_roles(
    path: Path | str,
    layout: LayoutName | Literal["auto"],
    encoding: str = "utf-8",
    errors: Literal["strict", "skip"] = "strict",
) -> list[RoleSentence]:
    """The labelled sentences of a file.

    `errors`: "skip" leaves out sentences that can't be read, with a TextWarning that counts them.

    Raises TextError with file and line for columns that don't fit the predicates, brackets without a partner, arguments
    inside others, columns without a predicate, and a file without words.
    """
    found = []
    with skipping(path, errors) as on_bad:
        for sentence in read_sentences_of_columns(path, layout, encoding, on_bad):
            _require_words(sentence)
            with reporting(on_bad, sentence.lines[0]):
                found.append(_sentence(sentence, _propositions(sentence)))
    if not found:
        raise nothing_in(path, "sentence")
    return found


def read_predicates(
    path: Path | str, layout: LayoutName | Literal["auto"], encoding: str, on_bad: BadLine | None = None
) -> Iterator[RoleSentence]:
    """The sentences of a file of columns with their predicates; their roles may be missing and aren't read.

    With `on_bad`, a sentence that can't be read is reported and left out.
    """
    for sentence in read_sentences_of_columns(path, layout, encoding, on_bad):
        _require_words(sentence)
        with reporting(on_bad, sentence.lines[0]):
            if sentence.columns:
                propositions = [replace(one, spans=()) for one in _propositions(sentence)]
            else:
                propositions = [Proposition((place, place + 1)) for place in sentence.marked]
            yield _sentence(sentence, propositions)


def marked_sentence(tokens: Sequence[str]) -> RoleSentence:
    """The sentence of tokens of which the predicates end in "/V"; without a mark its predicates are to be found."""
    propositions = [Proposition((place, place + 1)) for place, token in enumerate(tokens) if _is_marked(token)]
    words = [token.removesuffix(MARK) if _is_marked(token) else token for token in tokens]
    return RoleSentence(words, propositions, [one.predicate for one in propositions] or None)


def one_by_one(sentences: Iterable[RoleSentence], *, keep_bare: bool) -> list[RoleSentence]:
    """Each proposition by itself, as it is trained on. `keep_bare`: also the sentences without one."""
    found = []
    for sentence in sentences:
        found += [replace(sentence, propositions=[one]) for one in sentence.propositions]
        if keep_bare and not sentence.propositions:
            found.append(sentence)
    return found


def write_roles(pairs: Iterable[tuple[RoleSentence, Roles]]) -> Iterator[str]:
    """The lines of a file in which each predicate's column holds the predicted roles.

    Sentences that were read from columns keep all their other columns; those of text are written as conll2005.
    """
    for sentence, roles in pairs:
        columns = [column_of_spans(one.spans, len(sentence.tokens)) for one in roles]
        own = sentence.columns
        if own is not None:
            yield from own.comments
        yield from _aligned(_new_rows(sentence, roles, columns) if own is None else _replaced(own, columns))
        yield ""
        if own is not None:
            yield from own.closing


def write_props(pairs: Iterable[tuple[RoleSentence, Roles]]) -> Iterator[str]:
    """The lines of a props file, which srl-eval.pl reads: predicate or "-", then a column for each predicate; no words.

    The predicate is what the predicate column of the sentence's own file says, such as its lemma, else its token.
    """
    for sentence, roles in pairs:
        columns = [column_of_spans(one.spans, len(sentence.tokens)) for one in roles]
        yield from _aligned([row[1:] for row in _new_rows(sentence, roles, columns)])
        yield ""


def _require_words(sentence: ColumnSentence) -> None:
    if sentence.layout.name == "props":
        raise TextError(
            f"{sentence.places[0]}: a props file has no words, so nothing can be learned or predicted from it. Give "
            "a file with a column of words; props files are for 'elmo task score srl'."
        )


def _sentence(sentence: ColumnSentence, propositions: Sequence[Proposition]) -> RoleSentence:
    return RoleSentence(sentence.words, propositions, [one.predicate for one in propositions], sentence)


def _propositions(sentence: ColumnSentence) -> list[Proposition]:
    """Predicates are found by the "V" of their columns: in the predicate column some may be missing."""
    found = [_proposition(sentence, number, cells) for number, cells in enumerate(sentence.columns, start=1)]
    sentence.require_columns()
    return found


def _proposition(sentence: ColumnSentence, number: int, cells: Sequence[str]) -> Proposition:
    places = sentence.places
    spans = spans_of_column(cells, places)
    nested = first_nested(spans)
    if nested is not None:
        raise TextError(
            f"{places[nested[0]]}: the argument {nested[2]!r} of predicate {number} begins inside another one, but the "
            "arguments of a predicate can't overlap. Fix the column."
        )
    predicates = [span for span in spans if span[2] == PREDICATE]
    if len(predicates) != 1:
        raise TextError(
            f"{places[predicates[1][0] if predicates else 0]}: column {number} of the roles has {len(predicates)} "
            "'(V*)' in this sentence, but a column belongs to one predicate. Mark its tokens, and label a continuation "
            "C-V."
        )
    return Proposition(predicates[0][:2], spans)


def _is_marked(token: str) -> bool:
    return token.endswith(MARK) and token != MARK


def _replaced(sentence: ColumnSentence, columns: Sequence[Sequence[str]]) -> list[list[str]]:
    layout = sentence.layout
    return [
        [*row[: layout.roles], *(column[place] for column in columns), *row[len(row) - layout.after :]]
        for place, row in enumerate(sentence.rows)
    ]


def _new_rows(sentence: RoleSentence, roles: Roles, columns: Sequence[Sequence[str]]) -> list[list[str]]:
    """TextError for a token that no column can hold."""
    for token in sentence.tokens:
        if token.split() != [token]:
            shown = reprlib.repr(" ".join(sentence.tokens))
            raise TextError(
                f"the token {reprlib.repr(token)} of the sentence {shown} is empty or has a space in it, but columns "
                "are separated by spaces. Leave out -o, or use --json."
            )
    first = {proposition.predicate[0] for proposition in roles}
    rows = []
    for place, token in enumerate(sentence.tokens):
        predicate = _name(sentence, place) if place in first else NOTHING
        rows.append([token, predicate, *(column[place] for column in columns)])
    return rows


def _name(sentence: RoleSentence, place: int) -> str:
    """The predicate column's entry for a predicate, never "-", which means no predicate."""
    own = sentence.columns
    named = NOTHING if own is None else own.rows[place][own.layout.predicate]
    found = sentence.tokens[place] if named == NOTHING else named
    return PREDICATE if found == NOTHING else found


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


_LINES_LOOKED_AT = 1000


def sentences_with_predicates(path: Path | str, reading: TextReading) -> Iterator[RoleSentence]:
    """The sentences of a file. Columns with predicates are known by their first lines; without roles, by the ending
    .conll and a "-" in the second column. Standard input and pipes, which can be read only once, are text.

    Raises TextError with file and line for what can't be read, unless `reading` says to skip it.
    """
    if not is_stream(path):
        # Whoever reads the sentences tells of lines that aren't text.
        start = islice(labelled_lines(path, reading.encoding, lambda *_: None), _LINES_LOOKED_AT)
        if has_predicates(list(start), path):
            return read_predicates(path, "auto", reading.encoding, reading.on_bad)
    return (marked_sentence(with_whole_marks(line)) for line in text_lines(path, reading))


def with_whole_marks(line: TextLine) -> list[str]:
    """The tokens; where a tokenizer has split "gave/V" at the slash, they are one again.

    It is a mark only if the text has no space in between: "AC / V" is three tokens.
    """
    tokens: list[str] = []
    for place, token in enumerate(line.tokens):
        tokens.append(token)
        if len(tokens) > 2 and tokens[-2:] == list(MARK) and _stand_together(line.offsets[place - 2 : place + 1]):
            tokens[-3:] = ["".join(tokens[-3:])]
    return tokens


def _stand_together(offsets: Sequence[tuple[int, int]]) -> bool:
    """Whether they are known, and there is nothing between them."""
    return len(offsets) == 3 and all(one[1] == other[0] for one, other in pairwise(offsets))
