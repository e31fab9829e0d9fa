"""Builds the C files here into one library. Run by the package's installation; imports nothing of the package.

python src/elmo/ops/native/build.py        for a source tree that isn't installed
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "_native.so"
# -s: without symbols that only debuggers read.
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC", "-fvisibility=hidden"]
LINK = ["-shared", "-s"]


def sources() -> list[Path]:
    """The C files and their headers, in a fixed order."""
    return sorted(path for path in FOLDER.rglob("*.[ch]"))


def source_hash() -> str:
    """A hash of everything the library is built from. The library exports it, so that an outdated one is noticed."""
    made = hashlib.sha256(" ".join(FLAGS).encode())
    for path in sources():
        # Line endings may change on checkout.
        made.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return made.hexdigest()[:16]


def build(library: Path = LIBRARY) -> str | None:
    """Compile and link; None if it worked, else why it didn't: the package works without."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "there is no C compiler (cc, gcc, clang)"
    problem = None
    for extra in ([], ["-DNO_AVX512"]):  # the second for compilers that are older than bfloat16 instructions
        problem = _compile([*compiler.split(), *FLAGS, *LINK, *extra, f'-DSOURCE_HASH="{source_hash()}"'], library)
        if problem is None:
            return None
    return problem


def _compile(command: list[str], library: Path) -> str | None:
    unfinished = library.with_suffix(f".{os.getpid()}.unfinished")
    command = [*command, "-o", str(unfinished), *(str(path) for path in sources() if path.suffix == ".c"), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
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
