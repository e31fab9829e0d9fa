"""`elmo`: finds the verb, runs it, and turns every error into a message and an exit code.

Exit codes: 0 done; 1 done with failed rows; 2 usage or bad input; 75 interrupted and resumable.
Nothing heavy is imported before a verb is known.
"""

import atexit
import difflib
import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import elmo
from elmo.cli.streams import open_closed_streams, to_null_device
from elmo.disk.output import is_disk_full
from elmo.errors import ElmoError, Interrupted, MissingExtraError, paths_count_from
from elmo.process.idle_threads import let_idle_threads_sleep
from elmo.process.memory import is_out_of_memory

# Each verb is the module of its name in `verbs`, with a function `main(argv) -> int`.
VERBS = {
    "embed": "text -> vectors of every token, to a file or the screen",
    "models": "the models that come with the package, and the published ones",
    "download": "a published model -> a folder of this machine",
    "inspect": "a model's format, sizes, shapes, hash and facts",
    "convert": "any published format -> ours, or ours -> AllenNLP's",
    "prepare": "corpus -> vocabulary and training data, with a report",
    "pretrain": "train a biLM on prepared data; resume it",
    "finetune": "continue a model on another domain's text, with perplexities before and after",
    "static": "train static word vectors on the same text, as a baseline",
    "context2vec": "train context2vec, which the paper compares ELMo with, on the same text",
    "plot": "a training run's curves, as PNG, SVG or PDF",
    "perplexity": "how well a model predicts a text, in each direction",
    "scores": "the log-probability of every sentence of a text",
    "substitutes": "which words each direction would put in a [marked] place",
    "task": "train, score and use a model of a task, with ELMo or without",
    "index": "a text -> an index of its words in context, for 'elmo analyze neighbors'",
    "analyze": "what the layers know: senses, parts of speech, geometry; beside untrained and static vectors",
    "reproduce": "the paper's tables and figures, on your own files",
    "explore": "a page in the browser: a word in its sentence, layer by layer",
    "serve": "vectors over HTTP, in the shape of OpenAI's API",
    "doctor": "what is installed, what is missing, what this machine can do",
    "bench": "measure words per second and compare with this machine's peak, by dtype and batch",
}

_TRAINING = ("task", "reproduce", "pretrain", "finetune", "context2vec")
_LONGEST_PLACE = 200
_PACKAGE = Path(elmo.__file__).parent

_DEBUG = "--debug"
_NO_LIMITS = "--no-limits"
# The variables of elmo.text.files.lines and elmo.disk.bounded, whose modules are not loaded for this.
_LIMITS = ("ELMO_MAX_LINE_BYTES", "ELMO_MAX_UNPACK_RATIO", "ELMO_MAX_FILE_BYTES")
_NO_LIMIT = str(1 << 40)


def main(argv: list[str] | None = None) -> int:
    """Runs `elmo ARGV`; the exit code. Usage errors of a verb end in SystemExit(2), its --help in SystemExit(0)."""
    arguments = sys.argv[1:] if argv is None else argv
    debug, no_limits = _DEBUG in arguments, _NO_LIMITS in arguments
    arguments = [argument for argument in arguments if argument not in (_DEBUG, _NO_LIMITS)]
    open_closed_streams()
    try:
        with _limits_lifted() if no_limits else nullcontext(), _sigterm_like_ctrl_c(), _own_warnings_plain():
            code = _run(arguments)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:
        if debug:
            traceback.print_exc()
        code = _told(error, arguments)
    if code == Interrupted.exit_code and argv is None:
        _exit_now(code)
    return code


def _exit_now(code: int) -> NoReturn:
    """Ends the process with this code, after what is to be done at its end.

    `sys.exit` would not do: if KeyboardInterrupt came while some module executed code from a string (dataclasses do),
    `python -m` remembers it and dies by SIGINT in the end, though the exception was handled.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@contextmanager
def _limits_lifted() -> Iterator[None]:
    """For this process and those it starts."""
    before = {name: os.environ.get(name) for name in _LIMITS}
    os.environ.update(dict.fromkeys(_LIMITS, _NO_LIMIT))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    """Lets SIGTERM, too, end a verb by KeyboardInterrupt, so that it removes what is unfinished and leaves whole lines.

    Verbs that can save what they have listen themselves (`stop_flag`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _own_warnings_plain() -> Iterator[None]:
    """Prints the warnings of this package as messages, without the line of code that warns."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], filename: str, *place: Any, **more: Any) -> None:
        if Path(filename).is_relative_to(_PACKAGE):
            print(f"warning: {message}", file=sys.stderr)
        else:
            before(message, category, filename, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def _run(arguments: list[str]) -> int:
    if not arguments:
        print(_help(), file=sys.stderr)
        return 2
    verb, *rest = arguments
    if verb == "help" and rest:
        return _run([*rest, "--help"])
    if verb in ("-h", "--help", "help"):
        print(_help())
        return 0
    if verb in ("-V", "--version", "version"):
        print(f"elmo {elmo.__version__}")
        return 0
    if verb not in VERBS:
        print(_unknown(verb), file=sys.stderr)
        return 2
    if verb in _TRAINING:
        let_idle_threads_sleep()  # before torch is loaded
    return import_module(f"elmo.cli.verbs.{verb}").main(rest)


def _help() -> str:
    width = max(map(len, VERBS))
    return "\n".join(
        [
            "usage: elmo VERB ...",
            "",
            "Deep contextualized word vectors (ELMo).",
            "",
            *(f"  {verb:{width}}  {line}" for verb, line in VERBS.items()),
            "",
            "  elmo VERB --help  what a verb takes, with an example; also: elmo help VERB",
            "  elmo --version    which version this is; also: elmo version",
            "  --debug           anywhere: show where an error comes from",
            "  --no-limits       anywhere: read lines and files of any size",
            "",
            "ELMO_MODEL names the model that is used when none is given.",
        ]
    )


def _unknown(verb: str) -> str:
    match = difflib.get_close_matches(verb, VERBS, n=1)
    advice = f"Did you mean 'elmo {match[0]}'?" if match else f"The verbs are: {', '.join(VERBS)}."
    return f"elmo: there is no verb {verb!r}. {advice} 'elmo --help' says what each does."


def _told(error: BaseException, arguments: list[str]) -> int:
    """Prints what went wrong; the exit code."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough. Python would complain once more when it flushes at the end.
        to_null_device(sys.stdout)
        return 0
    message = _message(error, arguments)
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:  # nobody reads standard error any more
        to_null_device(sys.stderr)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return _code(error)
    to_null_device(sys.stdout)  # what could not be written would fail once more at the end
    return _code(error)


def _code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return Interrupted.exit_code
    return error.exit_code if isinstance(error, ElmoError) else ElmoError.exit_code


def _message(error: BaseException, arguments: list[str]) -> str:
    if isinstance(error, ElmoError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and (message := _file_message(error)):
        return message
    kind = type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return str(MissingExtraError("torch", "torch", " ".join(["elmo", *arguments[:1]])))
    if isinstance(error, ImportError):
        return f"{kind}: {error}. The installation is not complete or damaged. Run 'elmo doctor' to see why."
    if is_out_of_memory(error):
        return "Not enough memory: the machine gave no more. Close other programs, or use a smaller model or batch."
    command = " ".join(["elmo", *arguments[:1]])
    return (
        f"{command}: {kind}: {error}. elmo did not expect this, so it is a bug. Run the command again with --debug to "
        "see where it comes from, and report it with that output."
    )


def _file_message(error: OSError) -> str | None:
    place = "standard output" if error.filename is None else str(error.filename)
    if len(place) > _LONGEST_PLACE:
        place = f"{place[:_LONGEST_PLACE]}... ({len(place)} characters)"
    if error.errno == errno.EBADF and error.filename is None:
        return f"{place}: can't be written: it is closed. Leave it open, or send it to a file or to {os.devnull}."
    if error.errno == errno.ENAMETOOLONG:
        return f"{place}: is too long for the name of a file. Choose a shorter one."
    if is_disk_full(error):
        free = "Free some space or write to another disk ('df -h' shows them); then run the same command again."
        return f"{place}: can't be written: {error.strerror}. The disk or your share of it is full. {free}"
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
