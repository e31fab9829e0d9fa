"""The library's own check on processors that this machine isn't, and under sanitizers.

check.c compares products, layers and token encoders with plain loops in double precision, in odd shapes, on every tier;
teams of threads and rows that read several sentences in turn have the bits of one thread and of one sentence.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from elmo.ops.native.build import FLAGS, sources

CHECK = Path(__file__).with_name("check.c")
COMPILE = [*(flag for flag in FLAGS if flag not in ("-fPIC", "-fvisibility=hidden", "-O3")), "-O2", "-static"]
SANITIZE = ["-O1", "-g", "-fno-sanitize-recover=all"]
SANITIZERS = ["address,undefined", "thread"]
ON_X86 = platform.machine() in ("x86_64", "AMD64")

pytestmark = pytest.mark.slow


def compiled(compiler: str, flags: list[str], folder: Path) -> Path:
    """check.c with the library's sources as one program."""
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    program = folder / "check"
    files = [str(path) for path in sources() if path.suffix == ".c"]
    subprocess.run(
        [compiler, *flags, "-o", str(program), str(CHECK), *files, "-lm", "-pthread"], check=True, timeout=300
    )
    return program


def output_of(*command: str) -> str:
    """What a run of the check prints; it must find no problem."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    options = "print_stacktrace=1"
    environment = {**os.environ, "UBSAN_OPTIONS": options}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert ", 0 problems" in done.stdout
    return done.stdout


def test_arm_processors_compute_the_same(tmp_path: Path) -> None:
    program = compiled("aarch64-linux-gnu-gcc", COMPILE, tmp_path)
    everything = output_of("qemu-aarch64", "-cpu", "max", str(program))
    assert "NEON, dot product, BF16, kinds 7" in everything
    assert "neondot: NEON, dot product, kinds 7" in everything
    assert "neon: NEON, kinds 7" in everything


def test_an_early_64_bit_arm_has_neon_alone(tmp_path: Path) -> None:
    program = compiled("aarch64-linux-gnu-gcc", COMPILE, tmp_path)
    assert "all: NEON, kinds 7" in output_of("qemu-aarch64", "-cpu", "cortex-a53", str(program))


@pytest.mark.skipif(not ON_X86, reason="needs a compiler for x86-64")
@pytest.mark.parametrize(("processor", "found"), [("Nehalem", "all: none, kinds 0"), ("Haswell", "all: AVX2, kinds 7")])
def test_older_processors_meet_no_instruction_they_lack(processor: str, found: str, tmp_path: Path) -> None:
    program = compiled("gcc", COMPILE, tmp_path)
    assert found in output_of("qemu-x86_64", "-cpu", processor, str(program))


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_sanitizers_find_nothing(sanitizer: str, tmp_path: Path) -> None:
    program = compiled("gcc", [*SANITIZE, f"-fsanitize={sanitizer}"], tmp_path)
    assert " checks, 0 problems" in output_of(str(program))


@pytest.mark.skipif(not ON_X86, reason="compares the tiers of x86-64")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_compiler_finds_the_same_tiers(compiler: str, tmp_path: Path) -> None:
    flags = [flag for flag in COMPILE if flag != "-static"]
    program = compiled(compiler, flags, tmp_path)
    assert (
        output_of(str(program)).splitlines()[0]
        == f"all: {_instructions()}, kinds {7 if _instructions() != 'none' else 0}"
    )


def _instructions() -> str:
    from elmo.ops import native

    return native.instructions() or "none"
