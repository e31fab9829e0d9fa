"""CorpusPlan: a first, cheap pass over a text: how many tokens each row has, which lines are bad, its checksum.

It finds every bad line before hours are spent, gives the disk space that is needed, the total of the progress bar and
whether a resumed run still has the same text, and lets the file's structure be written before its vectors.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from elmo.embed.corpus.text_source import TextSource
from elmo.errors import Interrupted, TextError
from elmo.process.progress.report import SILENT, Count, Progress
from elmo.weights.fingerprint import file_hash

StopAsked = Callable[[], bool]

_ROWS_BETWEEN_CHECKS = 4096


@dataclass(frozen=True)
class CorpusPlan:
    """What a text holds."""

    lengths: np.ndarray
    """(rows,) tokens of each row: a sentence, or a blank line"""
    bad_lines: list[str]
    """A message for each line that could not be decoded"""
    bad_rows: list[int]
    """The row that each of them is, or would be"""
    sentence_index: dict[str, str] | None
    """Each sentence's row, as AllenNLP writes it: of equal sentences the last one's; None: not wanted"""
    sha256: str
    num_bytes: int

    @property
    def num_tokens(self) -> int:
        """Tokens of all rows."""
        return int(self.lengths.sum())

    def part(self, first: int, stop: int, sentence_index: dict[str, str] | None) -> "CorpusPlan":
        """What the rows from `first` to `stop` hold; `sentence_index`: theirs."""
        bad = [place for place, row in enumerate(self.bad_rows) if first <= row < stop]
        return replace(
            self,
            lengths=self.lengths[first:stop],
            bad_lines=[self.bad_lines[place] for place in bad],
            bad_rows=[self.bad_rows[place] for place in bad],
            sentence_index=sentence_index,
        )


def plan_corpus(
    source: TextSource,
    *,
    with_sentences: bool,
    progress: Progress = SILENT,
    stop_asked: StopAsked | None = None,
) -> CorpusPlan:
    """Reads the whole text once. `with_sentences`: whether the sentence index is made, which holds all sentences once.

    Raises TextError if the text is missing, empty or, with errors="strict", has a bad line.
    """
    lengths = array("q")  # 8 bytes a row, also of hundreds of millions
    bad_lines: list[str] = []
    bad_rows: list[int] = []
    index: dict[str, str] | None = {} if with_sentences else None
    num_bytes = sum(path.stat().st_size for path in source.paths)
    read = Count(progress, "reading", num_bytes, "bytes")

    def note(_: int, message: str) -> None:
        bad_lines.append(source.told(message))
        bad_rows.append(len(lengths))

    try:
        for row, place in enumerate(source.rows(note, read.add)):
            lengths.append(len(place.tokens))
            if index is not None and place.tokens:
                index[place.text.strip()] = str(row)
            if stop_asked is not None and row % _ROWS_BETWEEN_CHECKS == 0 and stop_asked():
                raise Interrupted(f"{source.name}: interrupted while it was counted. Nothing is lost: start again.")
    except TextError as error:
        raise TextError(source.told(str(error))) from None
    return CorpusPlan(
        np.array(lengths, dtype=np.int64),
        bad_lines,
        bad_rows,
        index,
        file_hash(source.paths),
        num_bytes,
    )
