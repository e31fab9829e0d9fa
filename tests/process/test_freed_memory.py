"""Freed memory is asked for again without the system's help."""

import platform
import subprocess
import sys

import pytest

CODE = """
import resource, sys
import numpy as np
from elmo.process.freed_memory import keep_freed_memory
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
