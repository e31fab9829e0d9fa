"""What `elmo task predict` reads: columns with predicates, or text whose predicates are marked ("She gave/V it")."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.labels.labelled_lines import labelled_lines
from elmo.tasks.srl.columns import LayoutName, is_conll2012
from elmo.tasks.srl.data import MARK, RoleSentence, marked_sentence, read_predicates
from elmo.tasks.task import TextReading
from elmo.tasks.unlabelled import TextLine, text_lines
from elmo.text.files.text_file import is_stream, text_name

_COLUMNS = frozenset({".conll", ".gold_conll", ".v4_gold_conll"})


def sentences_with_predicates(path: Path | str, reading: TextReading) -> Iterator[RoleSentence]:
    """The sentences of a file. conll2012 columns are known by their first line, others by the ending .conll; standard
    input and pipes, which can be read only once, are text.

    Raises TextError with file and line for what can't be read, and for a pipe that begins like columns, whose
    predicates would be lost.
    """
    layout = _layout(path, reading.encoding)
    if layout:
        return read_predicates(path, layout, reading.encoding)
    lines = text_lines(path, reading)
    if is_stream(path) and reading.format == "auto":
        lines = _no_columns(lines, path)
    return (marked_sentence(with_whole_marks(line)) for line in lines)


def with_whole_marks(line: TextLine) -> list[str]:
    """The tokens; where a tokenizer has split "gave/V" at the slash, they are one again.

    Only what stands together in the text is a mark: "AC / V" is three tokens.
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


def _layout(path: Path | str, encoding: str) -> LayoutName | Literal["auto"] | None:
    if is_stream(path):
        return None
    if is_conll2012(labelled_lines(path, encoding)):
        return "conll2012"
    return "auto" if _COLUMNS & set(Path(path).suffixes) else None


def _no_columns(lines: Iterable[TextLine], path: Path | str) -> Iterator[TextLine]:
    """The lines; TextError if the first one with tokens is none of text."""
    has_begun = False
    for line in lines:
        if line.tokens and not has_begun:
            has_begun = True
            if not line.has_text:
                raise TextError(
                    f"{text_name(path)}: begins like columns or lists of tokens, but standard input and pipes are read "
                    "as text, so predicates in columns would be lost. Save it in a file and name that, or say how it "
                    "is to be read: --format."
                )
        yield line
