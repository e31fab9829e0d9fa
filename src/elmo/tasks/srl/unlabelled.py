"""What `elmo task predict` reads: columns with predicates, or text whose predicates are marked ("She gave/V it")."""

from collections.abc import Iterator
from pathlib import Path

from elmo.tasks.labelled_lines import labelled_lines
from elmo.tasks.srl.columns import LayoutName, is_conll2012
from elmo.tasks.srl.data import RoleSentence, marked_sentence, read_predicates
from elmo.tasks.task import TextReading
from elmo.tasks.unlabelled import text_lines
from elmo.text.text_file import STDIN

_COLUMNS = frozenset({".conll", ".gold_conll", ".v4_gold_conll"})


def sentences_with_predicates(path: Path | str, reading: TextReading) -> Iterator[RoleSentence]:
    """The sentences of a file. conll2012 columns are known by their first line, others by the ending .conll; standard
    input is text.

    Raises TextError with file and line for what can't be read.
    """
    layout = _layout(path, reading.encoding)
    if layout:
        return read_predicates(path, layout, reading.encoding)
    return (marked_sentence(line.tokens) for line in text_lines(path, reading))


def _layout(path: Path | str, encoding: str) -> LayoutName | None:
    if str(path) == STDIN:
        return None
    if is_conll2012(labelled_lines(path, encoding)):
        return "conll2012"
    return "conll2005" if _COLUMNS & set(Path(path).suffixes) else None
