"""CoNLL columns: a token per line, columns separated by tabs or spaces, a blank line after each sentence.

The tokens stand in the first column, as in CoNLL-2000 and CoNLL-2003, or in the one whose number is given: 2 in
CoNLL-X and CoNLL-2009, 4 in CoNLL-2012. Lines that begin with -DOCSTART-, "#begin document" or "#end document" begin
or end documents and are no tokens.
Source: the shared tasks' descriptions, www.conll.org/previous-tasks.
"""

from collections.abc import Callable, Iterable, Iterator

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine
from elmo.text.formats.conllu import UNDECODABLE

_DOCUMENT_LINES = ("-DOCSTART-", "#begin document", "#end document")


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
    tokens: list[str] = []
    is_bad = False
    for number, line in enumerate(lines, start=first):
        if line.startswith(_DOCUMENT_LINES):
            if on_new_document is not None:
                on_new_document()
        elif line == UNDECODABLE:
            is_bad = True
        elif line.strip():
            columns = line.split("\t") if "\t" in line else line.split()
            if len(columns) < column or not columns[column - 1].strip():
                _report(
                    f"{name}:{number}: there are {len(columns)} columns, so there is no token in column {column}. "
                    "Name another with --field",
                    number,
                    on_bad_line,
                    is_known=is_bad,
                )
                is_bad = True
            else:
                tokens.append(columns[column - 1].strip())
        elif tokens or is_bad:
            yield [] if is_bad else tokens
            tokens, is_bad = [], False
    if tokens or is_bad:
        yield [] if is_bad else tokens


def _report(what: str, number: int, on_bad_line: BadLine | None, *, is_known: bool) -> None:
    """A sentence is reported once."""
    if is_known:
        return
    message = f"{what}, or use --errors skip to list and skip such sentences."
    if on_bad_line is None:
        raise TextError(message)
    on_bad_line(number, message)
