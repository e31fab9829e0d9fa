"""Builds the kernels for browsers and node into one WebAssembly module, with zig; imports nothing of the package.

python src/elmo/ops/native/build_wasm.py           needs pip install ziglang==0.17.1
python src/elmo/ops/native/build_wasm.py OUT       to another file, to compare it

The module is kept in git, since those who install elmo have no such compiler. Beside it is the hash of its sources, so
that a test notices a module that is older than they are; `.ci/wasm` builds it again and compares the bytes.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MODULE = FOLDER.parent.parent / "browser" / "elmo.wasm"
SOURCES_HASH = MODULE.with_name("elmo.wasm.sources")
ZIG = "0.17.1"
_FLAGS = [
    *("-target", "wasm32-freestanding", "-mcpu=generic+simd128+bulk_memory", "-Os", "-fno-math-errno"),
    *("-fno-trapping-math", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-function"),
    *("-nostdlib", "-Wl,--no-entry", "-Wl,--export-dynamic", "-Wl,--strip-all"),
]
_C_FILES = ("wasm/bare.c", "wasm/kernels.c", "wasm/page.c", "inference/work.c")


def source_hash() -> str:
    """A hash of everything the module is built from."""
    made = hashlib.sha256(" ".join([ZIG, *_FLAGS, *_C_FILES]).encode())
    for folder in ("inference", "processor", "training", "wasm"):
        for path in sorted((FOLDER / folder).rglob("*.[ch]")):
            if path.suffix == ".h" or path.relative_to(FOLDER).as_posix() in _C_FILES:
                content = path.read_bytes().replace(b"\r\n", b"\n")  # line endings may change on checkout
                made.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + content)
    return made.hexdigest()


def build(module: Path = MODULE) -> None:
    """Compile and link. Raises CalledProcessError if zig isn't there or doesn't compile it."""
    zig = [sys.executable, "-m", "ziglang"]
    found = subprocess.run([*zig, "version"], capture_output=True, text=True, check=True).stdout.strip()
    if found != ZIG:
        sys.exit(f"this is zig {found}, but the module's bytes are those of {ZIG}. pip install ziglang=={ZIG}")
    # Relative names: the bytes must not depend on where the sources are.
    command = [*zig, "cc", *_FLAGS, "-I", "wasm/bare", "-o", str(module.absolute()), *_C_FILES]
    subprocess.run(command, cwd=FOLDER, check=True)
    module.chmod(0o644)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        build(Path(sys.argv[1]))
    else:
        build()
        SOURCES_HASH.write_text(source_hash() + "\n")
        print(f"{MODULE}: {MODULE.stat().st_size} bytes")
