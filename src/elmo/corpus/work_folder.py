"""WorkFolder: `DATA.partial/` beside the output: the finished parts, from which a killed run resumes.

plan.json        the texts and settings: parts made with others would not fit
part-N.npz       see `parts.py`

A part is only used again if it is complete and was made from the same bytes as are there now.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elmo.corpus.blocks import Block
from elmo.corpus.parts import Part
from elmo.disk.atomic import hidden, hidden_names
from elmo.disk.json_file import read_record, write_json
from elmo.disk.partial_folder import PartialFolder
from elmo.errors import TextError

_DAMAGED = (OSError, ValueError, KeyError)


class WorkFolder(PartialFolder):
    """The work folder of prepared data, which need not exist yet."""

    note_file = "plan.json"
    ours = re.compile(
        rf"plan\.json(?:\.unfinished)?|{hidden_names('plan.json', 'unfinished')}|part-\d+\.(?:npz|unfinished)"
    )
    holder = "'elmo prepare'"

    @property
    def has_parts(self) -> bool:
        """Whether some work is done."""
        return any(self.path.glob("part-*.npz"))

    @contextmanager
    def held_for(self, plan: Mapping[str, Any], *, resume: bool, force: bool) -> Iterator[list[int]]:
        """Opens the folder for a run of `plan`. Yields descriptors to pass to all worker processes: as long as one of
        them lives, the folder is locked.

        `resume`: continue what is there; `force`: start again. OutputError if something is there and neither is
        given, or if another process works in it; ConfigError if `plan` is not the one it was started with.
        """
        plan = json.loads(json.dumps(plan))
        if self.is_begun and not (resume or force):
            self.require_absent()
        with self.held() as lock:
            if resume and self.is_begun:
                self.require_equal(read_record(self.note), plan)
            else:
                self.empty()
                write_json(self.note, plan)
            for entry in hidden(self.output, "unfinished"):  # of a run that was killed at its very end
                if entry.is_dir():
                    shutil.rmtree(entry, ignore_errors=True)
            yield [] if lock is None else [lock]

    def part_path(self, index: int) -> Path:
        """The file of a part."""
        return self.path / f"part-{index:06}.npz"

    def has(self, index: int, block: Block) -> bool:
        """Whether part `index` is there and complete. TextError if it was made from anything but `block`."""
        path = self.part_path(index)
        if not path.is_file():
            return False
        try:
            part = Part.load(path)
        except _DAMAGED:
            # The machine may have stopped before it was on the disk.
            return False
        if part.digest != block.digest:
            raise TextError(
                f"{block.name}, lines {block.first_line} to {block.last_line}: the text has changed since "
                f"{self.path} was started. Restore the old text, or start again with --force instead of --resume."
            )
        return True

    def load(self, index: int) -> Part:
        """Part `index`."""
        return Part.load(self.part_path(index))
