"""Progress of one call: a bar on standard error, or a function of the caller's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from elmo.errors import ConfigError

Progress = bool | Callable[[int, int], object]
"""True: a bar on standard error, False: nothing, or a function that gets the tokens done and their number in all."""


@contextmanager
def shown(progress: Progress, tokens: int) -> Iterator[Callable[[int], Any]]:
    """Gives a function to be called with the number of tokens done since the last call; `tokens`: all of them."""
    if callable(progress):
        done = 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            progress(done, tokens)

        yield tell
        return
    if not isinstance(progress, bool):
        raise ConfigError(
            f"progress is {progress!r}, but must be True, False or a function of two integers: the tokens done and "
            "their number in all."
        )
    if not progress:
        yield lambda more: None
        return
    # Only who wants a bar waits for it.
    from tqdm import tqdm

    with tqdm(total=tokens, unit="tok", unit_scale=True, desc="embedding", leave=False) as bar:
        yield bar.update
