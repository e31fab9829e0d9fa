"""Idle threads sleep in the verbs that train, unless the user has set another time; freed memory is kept."""

import os
import platform
import subprocess
import sys

import pytest

from elmo.cli.main import main
from elmo.process.resources import IDLE_THREAD_VARIABLES, cores_of_time


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in IDLE_THREAD_VARIABLES:
        monkeypatch.setenv(name, "")  # so that what is set here is undone
        monkeypatch.delenv(name)


def test_verbs_that_train_let_idle_threads_sleep(capsys):
    assert main(["models"]) == 0
    assert "GOMP_SPINCOUNT" not in os.environ
    assert main(["task", "--help"]) == 0
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


@pytest.mark.parametrize("name", IDLE_THREAD_VARIABLES)
def test_what_the_user_has_set_stays(monkeypatch, capsys, name):
    monkeypatch.setenv(name, "7")
    assert main(["task", "--help"]) == 0
    assert {one: os.environ[one] for one in IDLE_THREAD_VARIABLES if one in os.environ} == {name: "7"}


def test_torch_is_not_loaded_before():
    """libgomp reads the variables once, when it is loaded."""
    program = "import sys, elmo.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


CODE = """
import resource, sys
import numpy as np
from elmo.process.resources import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
np.ones(10_000_000, np.float32)
before = faults()
for _ in range(5):
    np.ones(10_000_000, np.float32)
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what other C libraries do is theirs")
def test_the_same_memory_is_not_filled_with_zeros_again():
    def faults(how: str) -> int:
        return int(subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, check=True).stdout)

    pages = 5 * 40_000_000 // 4096
    assert faults("kept") < pages // 100
    # Elsewhere pages may be larger than 4,096 bytes, or larger ones given by themselves: there is less to gain.
    assert faults("kept") <= faults("default")


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "20000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_a_container_has_the_cores_that_its_time_allows(tmp_path, files, cores):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert cores_of_time(tmp_path) == cores
