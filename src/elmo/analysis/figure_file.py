"""A figure of matplotlib as a file. Equal figures give equal files: no date, and ids from a fixed salt."""

from pathlib import Path
from typing import TYPE_CHECKING

from elmo.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")


def require_matplotlib() -> None:
    """MissingExtraError without matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("matplotlib", "analysis", "drawing a figure") from None


def save(figure: "Figure", path: Path, suffix: str) -> None:
    """Writes `path` in the format of `suffix`, one of `SUFFIXES`: the path of an unfinished file has its own."""
    import matplotlib

    metadata = {"Date": None} if suffix == ".svg" else None
    with matplotlib.rc_context({"svg.hashsalt": "elmo"}):
        figure.savefig(path, format=suffix[1:], dpi=200, metadata=metadata)
