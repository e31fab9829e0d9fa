"""`elmo`: finds the verb, runs it, and turns every error into a message and an exit code.

Exit codes: 0 done; 1 done, with lines skipped; 2 usage or bad input; 75 interrupted, can be resumed.
Nothing heavy is imported before a verb is known.
"""

import atexit
import difflib
import errno
import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TextIO

import elmo
from elmo.disk.output import is_disk_full
from elmo.errors import ElmoError, Interrupted, MissingExtraError, paths_count_from
from elmo.process.resources import is_out_of_memory, let_idle_threads_sleep
from elmo.process.stop_flag import handled

# Each verb is the module of its name in `verbs`, with a function `main(argv) -> int`.
VERBS = {
    "embed": "text -> vectors of every token, to a file or the screen",
    "models": "the models that come with the package, and the published ones",
    "download": "a published model -> a folder of this machine",
    "inspect": "a model's format, sizes, shapes, hash and facts",
    "convert": "any published format -> ours, AllenNLP's or ONNX",
    "prepare": "corpus -> vocabulary and training data, with a report",
    "pretrain": "train a biLM on prepared data; resume it",
    "finetune": "continue a model on another domain's text, with perplexities before and after",
    "static": "train static word vectors on the same text, as a baseline",
    "perplexity": "how well a model predicts a text, in each direction",
    "scores": "the log-probability of every sentence of a text",
    "substitutes": "which words each direction would put in a [marked] place",
    "task": "train, score and use a model of a task, with ELMo or without",
    "index": "a text -> an index of its words in context, for 'elmo neighbors'",
    "neighbors": "the nearest tokens to a word in its sentence, layer by layer",
    "explore": "a page in the browser: a word in its sentence, layer by layer",
    "serve": "vectors over HTTP, in the shape of OpenAI's API",
    "doctor": "check the installation, optional libraries and this machine",
}


@dataclass(frozen=True)
class Program:
    """A command of several verbs: `elmo`, or the laboratory's `elmo-paper`."""

    name: str
    """As it is typed."""
    summary: str
    version: str
    verbs: Mapping[str, str]
    """Each with its line of help."""
    modules: str
    """The package in which each verb is the module of its name, with a function `main(argv) -> int`."""
    folder: Path
    """Of the package, whose warnings are messages for its users."""
    training: Sequence[str] = ()
    """The verbs that train."""


_PACKAGE = Path(elmo.__file__).parent
ELMO = Program(
    name="elmo",
    summary="Deep contextualized word vectors (ELMo).",
    version=elmo.__version__,
    verbs=VERBS,
    modules="elmo.cli.verbs",
    folder=_PACKAGE,
    training=("task", "pretrain", "finetune"),
)

_NO_MORE_THREADS = "This user or container may not start more processes or threads."
# What the system refuses for another reason than the path, whatever it was asked for.
_REFUSALS = {
    errno.EFBIG: "The file system, or this user's limit, allows no such size. Use another disk, or raise 'ulimit -f'.",
    errno.EMFILE: "This user may not open more. Raise 'ulimit -n', or use fewer files or workers.",
    errno.EAGAIN: f"{_NO_MORE_THREADS} Raise 'ulimit -u', or use fewer workers.",
    errno.ENFILE: "The whole machine can't open more. Close other programs.",
    errno.EIO: "The disk, or the connection to it, is failing. Check it, or use another disk.",
}


def main(argv: list[str] | None = None, program: Program = ELMO) -> int:
    """Runs `elmo ARGV`, or another program; the exit code. Usage errors of a verb end in SystemExit(2), its --help in
    SystemExit(0)."""
    arguments = sys.argv[1:] if argv is None else argv
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if arguments[:1] == ["help"] and arguments[1:]:
        arguments = [*arguments[1:], "--help"]
    verb = arguments[0] if arguments else ""
    _open_missing_streams()
    if argv is None:
        _hold_all_characters(sys.stdout)
    try:
        # SIGTERM ends a verb as Ctrl-C does, which removes unfinished files and leaves whole lines. Verbs that can save
        # what they have listen themselves (`stop_flag`).
        with handled({signal.SIGTERM: signal.default_int_handler}), _own_warnings_plain(_PACKAGE, program.folder):
            if verb in program.training:
                let_idle_threads_sleep()  # before torch is loaded
            if verb in program.verbs:
                code = import_module(f"{program.modules}.{verb}").main(arguments[1:])
            else:
                code = _without_verb(verb, program)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:
        if debug:
            traceback.print_exc()
        code = _reported(error, f"{program.name} {verb}".rstrip())
    if code == Interrupted.exit_code and argv is None:
        _exit_now(code)
    return code


def _without_verb(word: str, program: Program) -> int:
    """Help, the version, or an error for a verb that doesn't exist; the exit code."""
    if word in ("-h", "--help", "help"):
        print(_help(program))
    elif word in ("-V", "--version", "version"):
        print(f"{program.name} {program.version}")
    else:
        print(_unknown(word, program) if word else _help(program), file=sys.stderr)
        return 2
    return 0


def _open_missing_streams() -> None:
    """Discards what is printed to a stream that was closed before the program began, which Python has as None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end


def _hold_all_characters(stream: TextIO) -> None:
    """Makes what is redirected UTF-8, which every reader expects, though a locale or Windows has another encoding; on a
    terminal with another one, letters that it doesn't have are escaped."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _exit_now(code: int) -> NoReturn:
    """Ends the process with this code, after its exit functions.

    `sys.exit` would not do: if KeyboardInterrupt came while some module executed code from a string (dataclasses do),
    `python -m` remembers it and dies by SIGINT in the end, though the exception was handled.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@contextmanager
def _own_warnings_plain(*packages: Path) -> Iterator[None]:
    """Prints the warnings of these packages as messages, without the line of code that warns."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], filename: str, *place: Any, **more: Any) -> None:
        if any(Path(filename).is_relative_to(package) for package in packages):
            print(f"warning: {message}", file=sys.stderr)
        else:
            before(message, category, filename, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def _help(program: Program) -> str:
    name, width = program.name, max(map(len, program.verbs), default=0)
    return "\n".join(
        [
            f"usage: {name} VERB ...",
            "",
            program.summary,
            "",
            *(f"  {verb:{width}}  {line}" for verb, line in program.verbs.items()),
            "",
            f"  {name} VERB --help  what a verb takes, with an example; also: {name} help VERB",
            f"  {name} --version    which version this is; also: {name} version",
            f"  {'--debug':{len(name) + 12}}  anywhere: show where an error comes from",
            "",
            "ELMO_MODEL names the model that is used when none is given. ELMO_NO_LIMITS=1 lets lines and files of any",
            "size be read.",
        ]
    )


def _unknown(verb: str, program: Program) -> str:
    name = program.name
    match = difflib.get_close_matches(verb, program.verbs, n=1)
    advice = f"Did you mean '{name} {match[0]}'?" if match else f"The verbs are: {', '.join(program.verbs)}."
    return f"{name}: there is no verb {verb!r}. {advice} '{name} --help' describes each."


def _reported(error: BaseException, command: str) -> int:
    """Prints what went wrong; the exit code."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough. Python would complain once more when it flushes at the end.
        _to_null_device(sys.stdout)
        return 0
    try:
        print(_message(error, command), file=sys.stderr, flush=True)
    except OSError:  # nobody reads standard error any more
        _to_null_device(sys.stderr)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _to_null_device(sys.stdout)  # what could not be written would fail once more at the end
    if isinstance(error, KeyboardInterrupt):
        return Interrupted.exit_code
    return error.exit_code if isinstance(error, ElmoError) else ElmoError.exit_code


def _to_null_device(stream: TextIO) -> None:
    """Discards what is still to be written to a broken stream."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def _message(error: BaseException, command: str) -> str:
    if isinstance(error, ElmoError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and (message := _file_message(error)):
        return message
    kind = type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return str(MissingExtraError("torch", "torch", command))
    if isinstance(error, ImportError):
        return f"{kind}: {error}. The installation is incomplete or damaged. Run 'elmo doctor' to see why."
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return f"{error}. {_NO_MORE_THREADS} Raise 'ulimit -u', or set OMP_NUM_THREADS=1."
    if is_out_of_memory(error):
        return "Not enough memory: the machine gave no more. Close other programs, or use a smaller model or batch."
    return (
        f"{command}: {kind}: {error}. elmo did not expect this, so it is a bug. Run the command again with --debug to "
        "see where it comes from, and report it with that output."
    )


def _file_message(error: OSError) -> str | None:
    place = "standard output" if error.filename is None else str(error.filename)
    if error.errno == errno.ENAMETOOLONG:
        return f"{place[:200]}...: is too long for the name of a file. Choose a shorter one."
    if is_disk_full(error):
        free = "Free some space or write to another disk ('df -h' shows them); then run the same command again."
        return f"{place}: can't be written: {error.strerror}. The disk or your share of it is full. {free}"
    if error.errno in _REFUSALS:
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror} (error {error.errno} of the system). {_REFUSALS[error.errno]}"
    if isinstance(error, PermissionError):
        return (
            f"{place}: {error.strerror}. This user may not read or write there. Change its permissions "
            "('ls -ld' shows them), or name another place."
        )
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return f"{paths_count_from()}."  # only the name of the working folder is asked for without a name
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError | FileExistsError):
        return f"{place}: {error.strerror}. {paths_count_from()}. Check the path."
    return None
