"""No call of anything that reaches C reads or writes beyond its arrays, or is wrong without a word (hostile.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from elmo.ops import native
from elmo.ops.native.build import build

HOSTILE = Path(__file__).with_name("hostile.py")
GROUPS = ("engine", "structures", "passes", "operations")
# What each fault lets through: which calls find it.
FAULTS = {"forget_sizes": "passes", "forget_types": "passes", "forget_lengths": "engine", "forget_memory": "structures"}

pytestmark = pytest.mark.skipif(native.library() is None, reason="the native library is not built here")


def preloaded(name: str) -> Path:
    """A library that watches over memory, by its name; skips where it isn't installed."""
    try:
        asked = ["gcc", f"-print-file-name={name}"]
        found = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs gcc")
    if not found.is_absolute():
        pytest.skip(f"needs {name}")
    return found.resolve()


def hostile(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The calls of a group, made in a child."""
    return subprocess.run(
        [sys.executable, str(HOSTILE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", **environment},
    )


def require_refused_or_right(done: subprocess.CompletedProcess) -> None:
    """The child has ended by itself and has found nothing."""
    silent = [line for line in done.stdout.splitlines() if line.startswith("SILENT")]
    assert silent == []
    assert done.returncode == 0, f"{done.stdout[-300:]}\n{done.stderr[-3000:]}"
    assert done.stdout.endswith("\n0 silent\n")


@pytest.mark.parametrize("group", GROUPS)
def test_wrong_arguments_are_refused_or_give_right_values(group: str) -> None:
    watch = preloaded("libc_malloc_debug.so")
    require_refused_or_right(hostile(group, LD_PRELOAD=str(watch), MALLOC_CHECK_="3", MALLOC_PERTURB_="165"))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_check_that_is_switched_off_is_noticed(fault: str) -> None:
    watch = preloaded("libc_malloc_debug.so")
    done = hostile(FAULTS[fault], "", fault, LD_PRELOAD=str(watch), MALLOC_CHECK_="3", MALLOC_PERTURB_="165")
    assert done.returncode < 0 or "SILENT" in done.stdout, done.stdout[-300:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def watched_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C files, built so that each access to memory is checked."""
    library = tmp_path_factory.mktemp("asan") / "_native.so"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", "gcc -fsanitize=address -fno-omit-frame-pointer")
        if problem := build(library):
            pytest.skip(f"needs gcc with AddressSanitizer: {problem}")
    return library


def watched(group: str, library: Path, *fault: str) -> subprocess.CompletedProcess:
    """The calls of a group, under AddressSanitizer."""
    options = "detect_leaks=0:allocator_may_return_null=1:exitcode=99"
    # The second: without it the sanitizer doesn't know how torch throws its errors.
    both = f"{preloaded('libasan.so')}:{preloaded('libstdc++.so.6')}"
    return hostile(group, str(library), *fault, LD_PRELOAD=both, ASAN_OPTIONS=options)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_no_call_reads_or_writes_beyond_its_arrays(group: str, watched_library: Path) -> None:
    require_refused_or_right(watched(group, watched_library))


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["forget_sizes", "forget_types"])
def test_the_sanitizer_sees_what_a_missing_check_lets_through(fault: str, watched_library: Path) -> None:
    done = watched(FAULTS[fault], watched_library, fault)
    assert done.returncode == 99
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
