"""Builds the C files here into one library. Run by the package's installation; imports nothing of the package.

python src/elmo/ops/native/build.py        for a source tree that isn't installed
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "_native.so"
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC", "-shared"]


def build(library: Path = LIBRARY) -> str | None:
    """Compile and link; None if it worked, else why it didn't: the package works without."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "there is no C compiler (cc, gcc, clang)"
    problem = None
    # Compilers that can't compile one function for several instruction sets, and those that don't know all of them.
    for extra in ([], ["-DONE_TARGET"], ["-DNO_AVX512"], ["-DONE_TARGET", "-DNO_AVX512"]):
        problem = _compile([*compiler.split(), *FLAGS, *extra], library)
        if problem is None:
            return None
    return problem


def _compile(command: list[str], library: Path) -> str | None:
    unfinished = library.with_suffix(f".{os.getpid()}.unfinished")
    sources = sorted(str(path) for path in FOLDER.glob("*.c"))
    command = [*command, "-o", str(unfinished), *sources, "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        return f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}"
    unfinished.replace(library)
    return None


if __name__ == "__main__":
    if problem := build():
        sys.exit(f"the native library was not built: {problem}. Torch versions of its passes run instead, slower.")
    print(LIBRARY)
