"""Texts: the figures of bars and lines, such as "1.20M of 4.00M tokens" and "0:03:47 left"."""

from datetime import timedelta

from tqdm import tqdm

_WRITTEN_OUT = 10_000
"""Smaller counts are written with all their digits."""
_SLOW = 1.0
"""Units per second; below that, seconds per unit say more."""


def amount(done: int, total: int | None, unit: str) -> str:
    """ "1.20M of 4.00M tokens"; without a total "1.20M tokens"."""
    of_total = "" if total is None else f" of {_count(total, unit)}"
    return f"{_count(done, unit)}{of_total}{'' if unit == 'bytes' else f' {unit}'}"


def speed(per_second: float | None, unit: str) -> str:
    """ "12.3k tokens/s", "3.1 s each"; empty if it is not known yet."""
    if not per_second:
        return ""
    if per_second < _SLOW:
        return f"{duration(1 / per_second)} each" if per_second < 1 / 60 else f"{1 / per_second:.1f} s each"
    if unit == "bytes":
        return f"{tqdm.format_sizeof(per_second)}B/s"
    return f"{tqdm.format_sizeof(per_second) if per_second >= 10 else f'{per_second:.1f}'} {unit}/s"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: "0:03:47"; also "2 days, 0:03:47"."""
    return str(timedelta(seconds=round(seconds)))


def _count(number: int, unit: str) -> str:
    if unit == "bytes":
        return f"{tqdm.format_sizeof(number)}B"
    return f"{number:,}" if number < _WRITTEN_OUT else tqdm.format_sizeof(number)
