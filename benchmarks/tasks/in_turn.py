"""Contestants that take turns, so that all of them have the machine in the same states."""

import statistics
import time
from collections.abc import Callable, Mapping


def processor_seconds(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median processor seconds of a call of each; a first round isn't counted."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, call in contestants.items():
            before = time.process_time()
            call()
            if number:
                found[name].append(time.process_time() - before)
    return {name: statistics.median(seconds) for name, seconds in found.items()}
