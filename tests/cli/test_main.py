"""`elmo`: finding the verb, and what each way of ending looks like."""

import errno
import os
import pty
import signal
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

import elmo
from elmo.cli import main as command_line
from elmo.cli.main import VERBS, main
from elmo.cli.verbs import models
from elmo.errors import ConfigError, Interrupted

SOURCE = Path(elmo.__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE)}


@pytest.fixture
def verb_that(monkeypatch):
    """Lets `elmo models` do something else."""
    return lambda action: monkeypatch.setattr(models, "main", action)


def raising(error: BaseException):
    def action(_: list[str]) -> int:
        raise error

    return action


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"elmo {elmo.__version__}\n"


def test_no_verb_shows_the_help_as_an_error(capsys):
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "usage: elmo VERB" in told.err


@pytest.mark.parametrize(
    ("verb", "advice"),
    [("inspcet", "Did you mean 'elmo inspect'?"), ("xyzzy", f"The verbs are: {', '.join(VERBS)}.")],
)
def test_an_unknown_verb_is_a_usage_error_with_the_nearest_match(verb, advice, capsys):
    assert main([verb, "--help"]) == 2
    told = capsys.readouterr()
    assert f"there is no verb {verb!r}. {advice}" in told.err
    assert told.out == ""


def test_a_verb_gets_its_arguments_and_gives_its_code(verb_that):
    got = []
    verb_that(lambda argv: got.append(argv) or 1)
    assert main(["models", "a", "--b"]) == 1
    assert got == [["a", "--b"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_whole_line_and_no_traceback(tmp_path, number, terminal):
    """On a terminal, in the middle of a bar."""
    pytest.importorskip("gensim")
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat\n" * 1_000_000, encoding="utf-8")
    command = [sys.executable, "-m", "elmo", "static", str(text), "-o", str(tmp_path / "out.txt"), "--min-count", "1"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stderr=theirs, env=ENVIRONMENT | {"OMP_NUM_THREADS": "1"}) as run:
        os.close(theirs)
        shown = b""
        while b"counting" not in shown:
            shown += os.read(ours, 1000)
        run.send_signal(number)
        with suppress(OSError):  # what a terminal says when nobody writes to it any more
            while more := os.read(ours, 1000):
                shown += more
    os.close(ours)
    assert run.returncode == 75
    terminal.write(shown.decode().replace("\r\n", "\n"))
    assert [line for line in terminal.screen if "counting words" not in line] == ["interrupted", ""]
    assert terminal.screen[-2:] == ["interrupted", ""]
    assert list(tmp_path.iterdir()) == [text]


def test_warnings_of_this_package_are_plain_messages(verb_that, capsys, monkeypatch):
    def action(_: list[str]) -> int:
        warnings.warn_explicit("take care.", UserWarning, str(SOURCE / "elmo" / "x.py"), 1)
        warnings.warn_explicit("not ours", UserWarning, "elsewhere.py", 1)
        return 0

    verb_that(action)
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        assert main(["models"]) == 0
    assert capsys.readouterr().err == "warning: take care.\n"
    assert [str(one.message) for one in others] == ["not ours"]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("a is 1: too much. Use 0."), 2, "a is 1: too much. Use 0.\n"),
        (Interrupted("stopped at 3. Continue with --resume."), 75, "stopped at 3. Continue with --resume.\n"),
        (KeyboardInterrupt(), 75, "interrupted\n"),
        (MemoryError(), 2, "Not enough memory"),
        (ImportError("No module named 'h5py'"), 2, "No module named 'h5py'. The installation is incomplete"),
        (RuntimeError("odd"), 2, "elmo models: RuntimeError: odd. elmo did not expect this, so it is a bug."),
        (RuntimeError("can't start new thread"), 2, "can't start new thread. This user or container may not start"),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:124] can't allocate memory: you tried"), 2, "Not enough memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 2, "Not enough memory"),
        (OSError(errno.EFBIG, "File too large", "out.h5"), 2, "out.h5: File too large (error 27 of the system)."),
        (OSError(errno.EMFILE, "Too many open files"), 2, "Too many open files (error 24 of the system). This user"),
        (OSError(errno.ENOSPC, "No space left on device", "out.h5"), 2, "out.h5: can't be written: No space left"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "standard output: can't be written: No space left"),
        (OSError(errno.ENAMETOOLONG, "Too long", "y" * 3000), 2, f"{'y' * 200}...: is too long for the name of a file"),
        (PermissionError(errno.EACCES, "Permission denied", "/x/y"), 2, "/x/y: Permission denied. This user may not"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.txt"), 2, "a.txt: No such file or directory."),
    ],
)
def test_each_error_has_its_message_and_its_code_and_no_traceback(verb_that, capsys, error, code, message):
    verb_that(raising(error))
    assert main(["models"]) == code
    told = capsys.readouterr()
    assert told.err.startswith(message) or (isinstance(error, ImportError) and message in told.err)
    assert "Traceback" not in told.err
    assert told.out == ""


@pytest.mark.parametrize(
    "arguments", [["--debug", "models", "x"], ["models", "--debug", "x"], ["models", "x", "--debug"]]
)
def test_debug_anywhere_shows_the_traceback_and_is_no_argument_of_the_verb(verb_that, capsys, arguments):
    got = []

    def action(argv):
        got.append(argv)
        raise ConfigError("bad. Mend it.")

    verb_that(action)
    assert main(arguments) == 2
    assert got == [["x"]]
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.endswith("bad. Mend it.\n")


def test_a_working_folder_that_was_removed_is_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    for arguments in (["inspect", "no-model"], ["embed", "text.txt", "-o", "out.h5"]):
        assert main(arguments) == 2
        assert "the working folder, which was removed: change to another one" in capsys.readouterr().err
    assert main(["embed", "the bank", "-m", "small-en", "--json"]) == 0  # nothing here is a path


def test_a_reader_that_has_enough_ends_the_command_quietly():
    code = (
        "import os, sys\nfrom elmo.cli import main\nfrom elmo.cli.verbs import models\n"
        "models.main = lambda argv: print('line\\n' * 100_000) or 0\nsys.exit(main.main(['models']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    process.stdout.read(5)
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), told) == (0, b"")


def test_the_command_is_installed_under_its_name():
    assert 'elmo = "elmo.cli.main:main"' in (SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert command_line.main is main


def test_an_interrupted_program_ends_with_75_also_if_code_from_a_string_was_interrupted(tmp_path):
    """`python -m` remembers a KeyboardInterrupt inside exec, and would end by SIGINT."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, elmo.cli.main as main\n"
        "atexit.register(print, 'at the end')\n"
        "main.import_module = lambda name: exec('raise KeyboardInterrupt')\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(elmo.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-m", "elmo", "models"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert (done.returncode, done.stdout, done.stderr) == (75, "at the end\n", "interrupted\n")
