"""Bars of what a training does, one after another: counting words, reading the text."""

import sys

from tqdm import tqdm


class ProgressBars:
    """A bar for each thing that is done, one after another."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: tqdm | None = None
        self._what = ""

    def __enter__(self) -> "ProgressBars":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, what: str, done: int, total: int) -> None:
        """`done` of `total`."""
        if self._bar is None or self._what != what:
            self.__exit__()
            self._what = what
            self._bar = tqdm(desc=what, total=total, unit_scale=True, disable=self._quiet, file=sys.stderr)
        self._bar.update(done - self._bar.n)
