"""`elmo doctor`: checks the installation, optional libraries and this machine.

It parses with the standard library alone, because it has to run where the installation is broken.
"""

import argparse
import json
import os
import platform
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Literal

import elmo
from elmo.cli.examples import examples_of
from elmo.process.resources import IDLE_THREAD_VARIABLES, num_cores

# Systems whose library was built elsewhere.
_UNTRIED = {
    "win32": "checked under wine, but the package has not been run on Windows: please report what fails",
    "darwin": "built on Linux, and not yet run on a Mac: please report what fails",
}
# Extra -> what it is for.
EXTRAS = {
    "torch": "training, tasks, the ELMo layer, embedding on a GPU",
    "hub": "models of the Hugging Face hub (org/name)",
    "data": "vectors in Parquet files and pandas tables",
    "analysis": "analyses and figures",
    "static": "training static word vectors: elmo static",
    "translation": "BLEU of CoVe's translations: elmo cove --test",
    "onnx": "models for other languages: elmo convert --to onnx",
    "tensorboard": "live curves of a run: elmo pretrain --log tensorboard",
    "serve": "the HTTP server: elmo serve",
    "spacy": "the spaCy component elmo",
    "sentence-transformers": "ELMo as a module of sentence-transformers",
    "flair": "ELMo embeddings in flair",
    "ray": "embedding on a Ray cluster",
}

_CPU_FEATURES = {"avx2": "avx2", "avx512f": "avx512", "avx512_bf16": "avx512_bf16", "avx512_vnni": "avx512_vnni"}
_CPU_FEATURES |= {"avx_vnni": "avx_vnni", "amx_tile": "amx", "amx_bf16": "amx_bf16", "amx_int8": "amx_int8"}
_CPU_FEATURES |= {"asimd": "neon", "bf16": "bf16", "sve": "sve"}
_CPU_BUILD = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
# From the sources: where PyPI has a wheel of Python alone, pip would take that again and never compile.
_COMPILE = "pip install --force-reinstall --no-deps --no-binary pyelmo pyelmo"


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    state: Literal["ok", "note", "broken"]
    """note: works without; broken: something needed is missing or fails."""
    found: str
    advice: str = ""
    """The next step, if there is one to take."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: all that is needed works, 1: something needed is broken."""
    parser = argparse.ArgumentParser(
        prog="elmo doctor",
        description="Check the installation, optional libraries and what this machine can do.",
        epilog=examples_of("doctor"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="Print the findings as JSON.")
    arguments = parser.parse_args(argv)
    found = list(findings())
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in found], indent=2))
    else:
        for finding in found:
            mark = {"ok": " ", "note": "-", "broken": "!"}[finding.state]
            print(f"{mark} {finding.name:16} {finding.found}")
            if finding.advice:
                print(f"  {'':16} -> {finding.advice}")
    return 1 if any(finding.state == "broken" for finding in found) else 0


def findings() -> Iterator[Finding]:
    """Everything that is looked at, in the order of the report."""
    yield Finding("elmo", "ok", f"{elmo.__version__} in {Path(elmo.__file__).parent}")
    yield Finding("python", "ok", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    needed = bounds()
    if not needed:
        found = "which libraries it needs is not known: it runs from its sources and was not installed"
        yield Finding("metadata", "note", found, "pip install -e ., in the folder that has pyproject.toml")
    libraries = [_library(name, oldest) for name, oldest in needed.get(None, {}).items()]
    yield from libraries
    yield Finding("cpu", "ok", ", ".join(cpu_features()) or "no vector instructions that matter here were found")
    yield _native()
    for name, oldest in needed.get("torch", {}).items():
        if _version(name) is not None:
            torch = _library(name, oldest)
            libraries.append(torch)
            yield torch
            if name == "torch" and torch.state == "ok":
                yield from _torch_findings(import_module(name), oldest)
    for extra, purpose in EXTRAS.items():
        if extra in needed:
            yield _extra(extra, needed[extra], purpose)
    if any(finding.state == "broken" for finding in libraries):
        yield Finding("default model", "note", "not tried: libraries that read it are missing or broken")
    else:
        yield _default_model()
    yield _disk(Path.cwd())


def bounds() -> dict[str | None, dict[str, str]]:
    """The libraries of each extra, and those that are always needed (None), with the oldest supported version.

    Read from the metadata that pip installed: pyproject.toml's bounds. Empty if there is none.
    """
    found: dict[str | None, dict[str, str]] = {}
    try:
        lines = requires("pyelmo") or []
    except PackageNotFoundError:
        return found
    for line in lines:
        library, _, condition = line.partition(";")
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)""", condition)
        if bound := re.match(r"\s*([\w.-]+)\s*(?:\[.*\])?.*?>=\s*([\w.]+)", library):
            found.setdefault(extra and extra[1], {})[bound[1]] = bound[2]
    return found


def cpu_features() -> list[str]:
    """The processor's vector and matrix instructions that speed a biLM up, as far as the system reports them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    flags = next((set(line.split()) for line in lines if line.lower().startswith(("flags", "features"))), set())
    return [name for flag, name in _CPU_FEATURES.items() if flag in flags]


def _library(name: str, oldest: str) -> Finding:
    if (found := _version(name)) is None:
        return Finding(name, "broken", "is not installed", _install(name, oldest))
    try:
        import_module(name)
    except Exception as error:  # a damaged library can raise anything
        message = str(error).strip().splitlines() or [""]
        return Finding(
            name, "broken", f"can't be imported: {type(error).__name__}: {message[0]}", _install(name, oldest)
        )
    if _numbers(found) < _numbers(oldest):
        return Finding(name, "broken", f"{found}, but {oldest} or newer is needed", _install(name, oldest))
    return Finding(name, "ok", found)


def _version(name: str) -> str | None:
    """The installed one; None without."""
    try:
        if name == "torch" and find_spec(name) is None:  # its metadata alone were left, or something hides it
            return None
        return version(name)
    except ImportError:
        return None


def _install(name: str, oldest: str) -> str:
    return f"pip install --upgrade '{name}>={oldest}'"


def _numbers(text: str) -> tuple[int, ...]:
    """2.13.0+cpu -> (2, 13, 0)"""
    return tuple(int(part) for part in text.split("+")[0].split(".") if part.isdigit())


def _torch_findings(torch: ModuleType, oldest: str) -> Iterator[Finding]:
    cores = num_cores()
    capability = torch.backends.cpu.get_cpu_capability()
    yield Finding("torch on the cpu", "ok", f"{torch.get_num_threads()} threads on {cores} cores, uses {capability}")
    yield _idle_threads()
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        yield Finding("gpu", "ok", f"{', '.join(names)}, CUDA {torch.version.cuda}")
        yield _gpu_kernels()
    elif torch.version.cuda is not None:
        advice = f"if this machine has none, this build saves several GB: {_CPU_BUILD}"
        found = f"none in use, but torch comes with CUDA {torch.version.cuda}"
        yield Finding("gpu", "note", found, advice)
    elif shutil.which("nvidia-smi"):
        advice = f"pip uninstall torch; pip install 'torch>={oldest}' (the plain registry's build has CUDA)"
        yield Finding("gpu", "note", "there is a driver, but this build of torch is for CPUs only", advice)
    else:
        yield Finding("gpu", "ok", "none; this build of torch is for CPUs only")


def _gpu_kernels() -> Finding:
    from elmo.ops.projected_lstm import on_gpu

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if on_gpu.kernels() is not None:
            return Finding("gpu kernels", "ok", "Triton compiles them")
    found = str(caught[-1].message) if caught else "Triton is not installed: the gates of an LSTM are slower"
    return Finding("gpu kernels", "note", found, "pip install triton, and a C compiler (gcc or clang)")


def _idle_threads() -> Finding:
    """Whether torch's threads spin while they wait, which slows training down beside other programs."""
    chosen = [f"{name}={os.environ[name]}" for name in IDLE_THREAD_VARIABLES if name in os.environ]
    if chosen:
        return Finding("idle threads", "ok", f"as {', '.join(chosen)} says")
    found = "elmo's own trainings let them sleep; in your own programs, each one keeps its core busy for 3 ms first"
    step = "if your program shares the machine with others, start it with GOMP_SPINCOUNT=1000 in its environment"
    return Finding("idle threads", "ok", found, step)


def _native() -> Finding:
    from elmo.ops import native
    from elmo.ops.native.kinds import native_types

    name = "native library"
    if types := ", ".join(native_types()):
        return Finding(
            name, "ok", f"uses {native.instructions()}; embeds with factors of {types}", _UNTRIED.get(sys.platform, "")
        )
    if native.is_switched_off():
        return Finding(name, "note", "left aside by ELMO_NATIVE=0: numpy embeds, slower", "unset ELMO_NATIVE")
    if native.library() is not None:
        found = "numpy embeds, slower: the library has no code for this processor's instructions"
        return Finding(name, "note", found)
    if not native.LIBRARY.is_file():
        advice = f"install a C compiler (gcc or clang), then: {_COMPILE}"
        return Finding(name, "note", "not built: numpy embeds, slower", advice)
    return Finding(
        name, "note", f"{native.LIBRARY} can't be loaded: numpy embeds, slower", f"build it again: {_COMPILE}"
    )


def _extra(extra: str, libraries: dict[str, str], purpose: str) -> Finding:
    found = {name: _version(name) for name in libraries}
    missing = [f"{name} not installed" for name, its in found.items() if its is None]
    old = [
        f"{name} {its}, but {libraries[name]} or newer is needed"
        for name, its in found.items()
        if its is not None and _numbers(its) < _numbers(libraries[name])
    ]
    if not missing and not old:
        return Finding(f"extra [{extra}]", "ok", f"installed: {purpose}")
    # Before an extra that brings torch: pip would take the build with several GB of CUDA.
    first = f"{_CPU_BUILD}; " if found.get("torch", "") is None and not shutil.which("nvidia-smi") else ""
    missing_text = f"{', '.join([*missing, *old])}; needed for {purpose}"
    return Finding(f"extra [{extra}]", "note", missing_text, f"{first}pip install 'pyelmo[{extra}]'")


def _default_model() -> Finding:
    from elmo.errors import ElmoError
    from elmo.weights.hub import DEFAULT_MODEL, MODEL_VARIABLE, resolve

    chosen = os.environ.get(MODEL_VARIABLE)
    name = f"{chosen} (${MODEL_VARIABLE})" if chosen else f"{DEFAULT_MODEL} (bundled)"
    try:
        from elmo.weights import formats
        from elmo.weights.describe import count_parameters

        config = formats.read(resolve(download=False)).config
    except ElmoError as error:
        return Finding("default model", "broken", f"{name} does not load", str(error))
    except Exception as error:  # whatever it is, the report has to be finished
        return Finding("default model", "broken", f"{name} does not load: {type(error).__name__}: {error}")
    parameters = sum(count_parameters(config).values())
    return Finding("default model", "ok", f"{name} loads, {parameters / 1e6:.1f} M parameters")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free in {folder}"
    if free < 1e9:
        return Finding("disk", "note", found, "vectors take 12 kB a token with the original model: free some space")
    return Finding("disk", "ok", found)
