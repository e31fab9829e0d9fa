"""CoNLL columns as text: the tokens of one column.

The tokens stand in the first column, as in CoNLL-2000 and CoNLL-2003, or in the one whose number is given: 2 in
CoNLL-X and CoNLL-2009, 4 in CoNLL-2012. `columns` says what separates them.
"""

from collections.abc import Callable, Iterable, Iterator

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine
from elmo.text.formats.columns import column_sentences, words_alone
from elmo.text.token_form import invalid_token_reason

_SKIPPING = ", or use --errors skip to list and skip such sentences"


def conll_sentences(
    lines: Iterable[str],
    name: str,
    field: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
) -> Iterator[list[str]]:
    """The sentences of `lines`; a bad one is a TextError that names its line, or, if `on_bad_line` is given, `[]`.

    `field`: the number of the tokens' column, from 1; any other text: the first one.
    """
    column = int(field) if field.isdecimal() and int(field) else 1
    for sentence in column_sentences(lines, name, on_bad_line, first, advice=_SKIPPING):
        if sentence.begins_document and on_new_document is not None:
            on_new_document()
        tokens: list[str] = []
        if column > 1:  # the first one may have CoNLL-U's IDs
            sentence = words_alone(sentence)
        for row, number in zip(sentence.rows, sentence.lines, strict=True):
            if why := _odd(row, column):
                message = f"{name}:{number}: {why}{_SKIPPING}."
                if on_bad_line is None:
                    raise TextError(message)
                on_bad_line(number, message)
                tokens = []
                break
            tokens.append(row[column - 1])
        if sentence.rows or sentence.is_bad:
            yield tokens


def _odd(row: list[str], column: int) -> str | None:
    """Why there is no token in a row, and the next step."""
    if len(row) < column:
        return f"there are {len(row)} columns, so there is no token in column {column}. Name another with --field"
    token = row[column - 1]
    if why := invalid_token_reason(token) or (None if token else "is empty"):
        return f"the token in column {column} is {token!r:.60}, which {why}. Fix the line, name another with --field"
    return None
