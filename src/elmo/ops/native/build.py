"""Builds the C files here into one library. Run by the package's installation; imports nothing of the package.

python src/elmo/ops/native/build.py        for a source tree that isn't installed
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "_native.so"
# -s: without symbols that only debuggers read.
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC", "-fvisibility=hidden"]
LINK = ["-shared", "-s"]
# The oldest macOS a library runs on unless MACOSX_DEPLOYMENT_TARGET says otherwise: the first on ARM.
_MACOS = "11.0"
_MACH_O = {0x0100000C: "arm64", 0x01000007: "x86_64"}


def sources() -> list[Path]:
    """The C files and their headers, in a fixed order. Those for WebAssembly are build_wasm.py's."""
    return sorted(path for path in FOLDER.rglob("*.[ch]") if "wasm" not in path.relative_to(FOLDER).parts)


def source_hash() -> str:
    """A hash of everything the library is built from. The library exports it, so that an outdated one is noticed."""
    made = hashlib.sha256(" ".join(FLAGS).encode())
    for path in sources():
        # Line endings may change on checkout.
        made.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return made.hexdigest()[:16]


def build(library: Path = LIBRARY) -> str | None:
    """Compile and link; None if it worked, else why it didn't: the package works without."""
    # CC may have flags; a name that was found may have spaces.
    compiler = os.environ.get("CC", "").split() or [*filter(None, map(shutil.which, ("cc", "gcc", "clang")))][:1]
    if not compiler:
        return "there is no C compiler (cc, gcc, clang)"
    flags = [*FLAGS, *LINK, *_target_flags(), f'-DSOURCE_HASH="{source_hash()}"']
    problem = _compile([*compiler, *flags], library)
    if problem is None:
        return None
    # For compilers that are older than bfloat16 instructions.
    if _compile([*compiler, *flags, "-DNO_AVX512"], library) is not None:
        return problem
    warnings.warn(f"the native library was built without AVX-512: {problem}", RuntimeWarning, stacklevel=2)
    return None


def _compile(command: list[str], library: Path) -> str | None:
    # In a folder of its own: linkers for Windows leave import libraries beside what they make.
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=library.parent) as folder:
        made = Path(folder) / library.name
        files = [str(path) for path in sources() if path.suffix == ".c"]
        command = [*command, "-o", str(made), *files, *_system_flags()]
        try:
            environment = {"MACOSX_DEPLOYMENT_TARGET": _MACOS} | os.environ
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=environment)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode != 0:
            return f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}"
        made.replace(library)
    return None


def _system_flags() -> list[str]:
    """Windows: how a thread waits for another one. macOS: a name without a path of this machine."""
    system = os.environ.get("ELMO_NATIVE_TARGET", sys.platform)
    if system == "win32" or "windows" in system:
        return ["-lapi-ms-win-core-synch-l1-2-0"]
    return ["-lm", *(["-Wl,-install_name,@rpath/_native.so"] if "macos" in system or system == "darwin" else [])]


def _target_flags() -> list[str]:
    """What makes a compiler compile for another system; ARCHFLAGS is what macOS's tools set for another processor."""
    target = os.environ.get("ELMO_NATIVE_TARGET")
    return ["-target", target] if target else shlex.split(os.environ.get("ARCHFLAGS", ""))


def platform_tag(library: Path = LIBRARY) -> str:
    """The last part of the name of a wheel with this library: what it runs on."""
    if target := os.environ.get("ELMO_NATIVE_TARGET"):
        return _tag_of_target(target)
    # As other build tools do: the interpreter's platform may be overridden for a cross build.
    platform = os.environ.get("_PYTHON_HOST_PLATFORM") or sysconfig.get_platform()
    if platform.startswith("macosx"):
        # A universal interpreter's name has both processors, but the compiler has built for one.
        version = os.environ.get("MACOSX_DEPLOYMENT_TARGET", _MACOS)
        platform = f"macosx-{version if '.' in version else version + '.0'}-{_mac_processor(library)}"
    return re.sub("[-.]", "_", platform)


def _tag_of_target(target: str) -> str:
    """aarch64-linux-gnu.2.28 -> manylinux_2_28_aarch64, aarch64-macos.11.0 -> macosx_11_0_arm64."""
    processor, *system = re.split("[-.]", target)
    match system:
        case ["linux", "gnu", major, minor]:
            return f"manylinux_{major}_{minor}_{processor}"
        case ["macos", major, minor]:
            return f"macosx_{major}_{minor}_{processor.replace('aarch64', 'arm64')}"
        case ["windows", *_]:
            return {"x86_64": "win_amd64", "aarch64": "win_arm64"}[processor]
    raise ValueError(
        f"ELMO_NATIVE_TARGET is {target!r}, which no wheel tag is known for. Name processor, system and its oldest "
        "version, as aarch64-linux-gnu.2.28, aarch64-macos.11.0 or x86_64-windows-gnu."
    )


def _mac_processor(library: Path) -> str:
    """Which processors a Mach-O file is for."""
    with library.open("rb") as file:
        head = file.read(8)
    if head[:4] == b"\xca\xfe\xba\xbe":  # several in one file
        return "universal2"
    return _MACH_O[int.from_bytes(head[4:], "little")]


if __name__ == "__main__":
    if problem := build():
        sys.exit(f"the native library was not built: {problem}. numpy and torch compute instead, slower.")
    print(LIBRARY)
