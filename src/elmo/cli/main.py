"""`elmo`: finds the verb, runs it, and turns every error into a message and an exit code.

Exit codes: 0 done; 1 done with failed rows; 2 usage or bad input; 75 interrupted and resumable.
Nothing heavy is imported before a verb is known.
"""

import difflib
import errno
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path

import elmo
from elmo.errors import ElmoError, Interrupted
from elmo.process.memory import is_out_of_memory

# Each verb is the file of its name beside this one, with a function `main(argv) -> int`.
VERBS = {
    "embed": "text -> vectors of every token, to a file or the screen",
    "models": "the models that come with the package, and the published ones",
    "inspect": "a model's format, sizes, shapes, hash and facts",
    "convert": "any published format -> ours, or ours -> AllenNLP's",
    "prepare": "corpus -> vocabulary and training data, with a report",
    "pretrain": "train a biLM on prepared data; resume it",
    "finetune": "continue a model on another domain's text, with perplexities before and after",
    "static": "train static word vectors, one a word, on the same text, to compare with",
    "plot": "a training run's curves, as PNG, SVG or PDF",
    "perplexity": "how well a model predicts a text, in each direction",
    "scores": "the log-probability of every sentence of a text",
    "substitutes": "which words each direction would put in a [marked] place",
    "task": "train, score and use a model of a task, with ELMo or without",
    "index": "a text -> an index of its words in context, for 'elmo analyze neighbors'",
    "analyze": "what the layers know: neighbors and word senses, beside untrained and static vectors",
    "reproduce": "the paper's tables and figures about ELMo in a task, on your own files",
    "doctor": "what is installed, what is missing, what this machine can do",
    "bench": "speed here against the floor here, by dtype and batch",
}

_DEBUG = "--debug"


def main(argv: list[str] | None = None) -> int:
    """Runs `elmo ARGV`; the exit code. Usage errors of a verb end in SystemExit(2), its --help in SystemExit(0)."""
    arguments = sys.argv[1:] if argv is None else argv
    debug = _DEBUG in arguments
    arguments = [argument for argument in arguments if argument != _DEBUG]
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit:
        raise
    except BaseException as error:
        if debug:
            traceback.print_exc()
        return _told(error, arguments)


def _run(arguments: list[str]) -> int:
    if not arguments:
        print(_help(), file=sys.stderr)
        return 2
    verb, *rest = arguments
    if verb in ("-h", "--help"):
        print(_help())
        return 0
    if verb in ("-V", "--version"):
        print(f"elmo {elmo.__version__}")
        return 0
    if verb not in VERBS:
        print(_unknown(verb), file=sys.stderr)
        return 2
    return import_module(f"elmo.cli.{verb}").main(rest)


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
            "  elmo VERB --help  what a verb takes",
            "  elmo --version    which version this is",
            "  --debug           anywhere: show where an error comes from",
            "",
            "ELMO_MODEL names the model that is used when none is given.",
        ]
    )


def _unknown(verb: str) -> str:
    match = difflib.get_close_matches(verb, VERBS, n=1)
    advice = f"Did you mean 'elmo {match[0]}'?" if match else f"The verbs are: {', '.join(VERBS)}."
    return f"elmo: there is no verb {verb!r}. {advice} 'elmo --help' says what each does."


def _told(error: BaseException, arguments: list[str]) -> int:
    """Says what went wrong; the exit code."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    print(_message(error, arguments), file=sys.stderr)
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
    place = error.filename or "a file"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = "Free some space or write to another disk ('df -h' shows them); then run the same command again."
        return f"{place}: can't be written: {error.strerror}. The disk or your share of it is full. {free}"
    if isinstance(error, PermissionError):
        return (
            f"{place}: {error.strerror}. This user may not read or write there. Change its permissions "
            "('ls -ld' shows them), or name another place."
        )
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError | FileExistsError):
        return f"{place}: {error.strerror}. Paths count from {Path.cwd()}. Check the path."
    return None
