"""Pace: how fast a stage goes, measured from its first unit on.

Before the first one is done, models are loaded, threads are started and memory is filled: counted as a unit's time,
that promises hours where seconds are left.
"""

_SHORTEST = 1.0
"""Seconds after the first unit from which a pace means something."""


class Pace:
    """The speed of one stage."""

    def __init__(self, done: int) -> None:
        """`done`: what was done when it began."""
        self._begin = done
        self._since: tuple[int, float] | None = None

    def note(self, done: int, now: float) -> None:
        """So much is done now, in seconds of any clock."""
        if self._since is None and done > self._begin:
            self._since = done, now

    def per_second(self, done: int, now: float) -> float | None:
        """Units per second; None: not known yet."""
        if self._since is None:
            return None
        first, began = self._since
        return (done - first) / (now - began) if done > first and now - began >= _SHORTEST else None
