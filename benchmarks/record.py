"""Records: what a benchmark found, as a dated file that says where and how.

    benchmarks/results/<subject>_<hardware>_<date>.md

versions, commit, command, load of the machine, tables, and one honest sentence. A second run of the same day on the
same machine replaces the first.
"""

import argparse
import datetime
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy
import torch

import elmo
from elmo.process.environment import processor

BENCHMARKS = Path(__file__).resolve().parent
ROOT, RESULTS = BENCHMARKS.parent, BENCHMARKS / "results"

_BEGUN = datetime.datetime.now(datetime.UTC)
_LOAD_BEFORE = os.getloadavg()[0]


@dataclass(frozen=True)
class Table:
    """Rows under columns; figures are written as they are given."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""

    def markdown(self) -> str:
        """As GitHub shows it, and readable as plain text."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        text = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
        return f"### {self.title}\n\n{text}" if self.title else text


@dataclass(frozen=True)
class Record:
    """What one run of a benchmark found."""

    subject: str
    """The file's name begins with it: "training", "fault-nan"."""
    title: str
    tables: Sequence[Table]
    sentence: str
    """What the figures show, and what they don't."""
    settings: dict[str, object] = field(default_factory=dict)

    def write(self, folder: Path | None) -> Path | None:
        """Writes and prints it; None writes nothing."""
        text = self._text()
        print(text, flush=True)
        if folder is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.subject}_{hardware()}_{_BEGUN:%Y-%m-%d}.md"
        path.write_text(text, encoding="utf-8")
        print(f"written: {path}", file=sys.stderr, flush=True)
        return path

    def _text(self) -> str:
        facts = {
            "date": f"{_BEGUN:%Y-%m-%d %H:%M} UTC",
            "machine": f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
            "load": f"{_LOAD_BEFORE:.1f} runnable processes at the beginning, {os.getloadavg()[0]:.1f} at the end",
            "versions": f"elmo {elmo.__version__}, torch {torch.__version__}, numpy {numpy.__version__}, Python "
            f"{platform.python_version()}",
            "commit": commit(),
            "command": f"`{command()}`",
            **self.settings,
        }
        parts = [f"# {self.title}", "\n".join(f"- {name}: {value}" for name, value in facts.items())]
        return "\n\n".join([*parts, *(table.markdown() for table in self.tables), self.sentence]) + "\n"


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser that shows the script's own description, and knows where records go."""
    commit()  # now: at the end of a long run the tree can be another one
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--results", type=Path, default=RESULTS, help="folder of the record (default: %(default)s)")
    made.add_argument("--no-record", dest="results", action="store_const", const=None, help="write no record")
    return made


def hardware() -> str:
    """As part of a file's name: "amd-epyc-2c"."""
    name = re.sub(r"\((r|tm)\)|processor|cpu|@.*|\d+-core", " ", processor().lower())
    return "-".join(re.findall(r"[a-z0-9]+", name)) + f"-{os.cpu_count()}c"


@cache
def commit() -> str:
    """The commit of the working tree when this was first asked, and whether it was changed."""
    code = ("src", "benchmarks", ":!benchmarks/results")
    found = [_git("rev-parse", "--short=10", "HEAD"), _git("status", "--porcelain", "--", *code)]
    if found[0] is None:
        return "not a git checkout"
    return f"{found[0]}, with changes not committed" if found[1] else found[0]


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def command() -> str:
    """What was typed, from the repository's root."""
    script = Path(sys.argv[0]).resolve()
    shown = script.relative_to(ROOT) if script.is_relative_to(ROOT) else script
    return shlex.join(["python", str(shown), *sys.argv[1:]])
