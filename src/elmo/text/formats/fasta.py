"""FASTA: proteins, each a header line ">ID DESCRIPTION" and lines of letters -> the letters of each, which are tokens.

    id        the first word of the header
    letters   in capitals; spaces and tabs are left out. U and O (rare), B, Z and J (ambiguous) and X (unknown) stay as
              they are: SeqVec's own program changes nothing but the case (mheinzinger/SeqVec, seqvec/seqvec.py, read
              2026-11-25), though programs for later protein models write X for U, Z, O and B
    - . ~ _   a gap of an alignment: left out
    *         a stop: left out at the end of a sequence, and wrong inside of one
    ;         begins a comment line

Blank lines may stand around records, but not inside of one, where a header may be missing. A record that breaks a rule
is left out as a whole, if bad ones are skipped: nothing else can keep its place.
"""

import re
from collections.abc import Iterable, Iterator

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine, report
from elmo.text.formats.columns import UNDECODABLE

_ODD = re.compile(r"[^A-Za-z*.~_-]")
_INNER_STOP = re.compile(r"\*(?=[^*])")
_LEFT_OUT = str.maketrans("", "", "-.~_* \t")
_LONGEST_ID = 1000
_PIR = re.compile(r"(?:[PFDRN][1-3LC]|XX);")


class FastaRecord(list[str]):
    """The letters of a sequence, its id, and the line of its header, from 1."""

    def __init__(self, letters: Iterable[str], id: str, line: int) -> None:
        super().__init__(letters)
        self.id = id
        self.line = line


def fasta_records(
    lines: Iterable[str], name: str, on_bad_line: BadLine | None, first: int = 1
) -> Iterator[FastaRecord]:
    """The records of `lines`. `name`: of the file, for messages; `first`: the number of the first line.

    A record that breaks a rule of above, has no letters, or an id that an earlier one has, is a TextError with file and
    line, or, with `on_bad_line`, reported to it and left out. All ids are in memory.
    """
    reader = _Reader(name, on_bad_line)
    for number, line in enumerate(lines, start=first):
        if line.startswith(">"):
            yield from reader.ended()
            reader.begin(number, line)
        else:
            reader.read(number, line)
    yield from reader.ended()


def dataset_name(id: str) -> str:
    """What an HDF5 file calls a record, where a slash would make groups: with _ instead."""
    return id.replace("/", "_")


class _Reader:
    """The record that is being read, and the ids so far."""

    def __init__(self, name: str, on_bad_line: BadLine | None) -> None:
        self._name = name
        self._on_bad_line = on_bad_line
        self._lines: dict[str, int] = {}
        self._id, self._line = "", 0
        self._is_bad = False
        self._letters: list[str] = []
        self._blank = 0
        """The last line that was blank; 0: none since the header."""

    def begin(self, number: int, header: str) -> None:
        self._id, self._line = next(iter(header[1:].split()), ""), number
        self._is_bad, self._letters, self._blank = False, [], 0
        if not self._id:
            self._tell(number, "the header has no id after '>'. Give the protein one")
        elif _PIR.match(self._id):
            self._tell(number, f"{self._id!r:.60} begins a record of PIR, with a title below it. Convert it to FASTA")
        elif len(self._id) > _LONGEST_ID or self._id == "." or "\0" in self._id:
            what = f"{self._id!r:.60} can't be an id: it is '.', has a NUL in it or more than {_LONGEST_ID} characters"
            self._tell(number, f"{what}. Give the protein another")
        elif earlier := self._lines.get(dataset_name(self._id)):
            what = f"the id {self._id!r} is that of line {earlier} too (a slash counts as _)"
            self._tell(number, f"{what}. Give each protein one of its own")
        else:
            self._lines[dataset_name(self._id)] = number

    def read(self, number: int, line: str) -> None:
        if line == UNDECODABLE:  # it was reported, and may have been the header of what follows
            self._is_bad = True
        if self._is_bad or line.startswith(";"):
            return
        if not (letters := "".join(line.split())):
            self._blank = number if self._letters else 0
        elif why := self._wrong(number, letters):
            self._tell(number, why)
        else:
            self._letters.append(letters)

    def _wrong(self, number: int, letters: str) -> str | None:
        if not self._line:
            return "there are letters before the first header. Begin the record with a line '>ID'"
        if self._blank:
            return f"the sequence goes on after a blank line, {self._blank}: is a header missing? Add it, or join them"
        if odd := _ODD.search(letters):
            return f"{odd.group()!r} is not a letter of a sequence. Write each residue as a letter"
        if self._letters[-1:] and self._letters[-1].endswith("*") or _INNER_STOP.search(letters):
            return "the sequence goes on after the stop '*'. Cut it there, or write X for it"
        return None

    def ended(self) -> Iterator[FastaRecord]:
        """The record, if there is one, and it is sound."""
        letters = "".join(self._letters).translate(_LEFT_OUT).upper()
        if self._line and not self._is_bad and not letters:
            self._tell(
                self._line, f"the protein {self._id!r:.60} has no letters. Add its sequence, or take the header out"
            )
        if self._line and not self._is_bad:
            yield FastaRecord(letters, self._id, self._line)

    def _tell(self, number: int, why: str) -> None:
        self._is_bad = True
        message = (
            f"{self._name}:{number}: {why}, or use --errors skip to list and skip such records. Text: --format text."
        )
        report(self._on_bad_line, number, message)


def require_ids_differ(known: dict[str, str], id: str, where: str) -> None:
    """TextError if an id is already in `known`, dataset name -> where, to which it is added."""
    earlier = known.setdefault(dataset_name(id), where)
    if earlier != where:
        raise TextError(
            f"{where}: the id {id!r} is that of {earlier} too, so one of the two would be lost. Give each protein an "
            "id of its own, or embed the files separately."
        )
