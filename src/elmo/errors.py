"""What can go wrong, as one small tree:

    ElmoError                 every error this package raises on purpose
    ├── ConfigError           a setting, an option or an argument makes no sense
    ├── TextError             a text, corpus or vocabulary file can't be read as requested
    ├── WeightFileError       a model's files are missing, damaged or belong to different models
    ├── OutputError           a result can't be written: it exists, or the disk is full
    ├── MissingExtraError     an optional library is not installed
    ├── OutOfMemory           the machine has not enough memory for a step
    └── Interrupted           a long run was asked to stop and has saved what it had

Every message has three parts: the fault, with the values; why; the next step.
The command line prints the message and ends with `exit_code`.
"""

from pathlib import Path


class ElmoError(Exception):
    """Base of all errors raised on purpose."""

    exit_code = 2


class ConfigError(ElmoError, ValueError):
    """A setting, an option or an argument makes no sense."""


class TextError(ElmoError, ValueError):
    """A text, corpus or vocabulary file can't be read as requested."""


class TextWarning(UserWarning):
    """A text that can be read, but is likely not what the model was trained on: untokenized, or in another language."""


class WeightFileError(ElmoError, ValueError):
    """A model's files are missing, damaged or belong to different models."""


class OutputError(ElmoError, OSError):
    """A result can't be written: it exists already, or the disk is full."""


class MissingExtraError(ElmoError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed. Install it with: pip install 'pyelmo[{extra}]'"
        )


class OutOfMemory(ElmoError, MemoryError):
    """The machine has not enough memory for a step; a smaller batch or model needs less."""


class Interrupted(ElmoError):
    """A long run was asked to stop; what it had is saved and the run can be resumed."""

    exit_code = 75


def paths_count_from() -> str:
    """For messages about a path that doesn't exist: the folder from which relative paths count."""
    try:
        return f"Paths count from {Path.cwd()}"
    except FileNotFoundError:  # somebody has removed it, with a process in it
        return "Paths count from the working folder, which was removed: change to another one"
