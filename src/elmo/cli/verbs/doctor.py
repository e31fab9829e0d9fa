"""`elmo doctor`: checks the installation, optional libraries and this machine.

It parses with the standard library alone, because it has to run where the installation is broken.
"""

import argparse
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

import elmo
from elmo.cli.examples import examples_of

_CPU_BUILD = "pip install torch --index-url https://download.pytorch.org/whl/cpu"


class Finding(NamedTuple):
    """One thing looked at."""

    mark: str
    """" ": right, "-": works without, "!": something needed is missing or fails."""
    name: str
    found: str
    advice: str = ""
    """The next step, if there is one to take."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: all that is needed works, 1: something needed is broken."""
    argparse.ArgumentParser(
        prog="elmo doctor",
        description="Check the installation, optional libraries and what this machine can do.",
        epilog=examples_of("doctor"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(argv)
    found = list(findings())
    for mark, name, what, advice in found:
        print(f"{mark} {name:16} {what}" + (f"\n  {'':16} -> {advice}" if advice else ""))
    return 1 if any(finding.mark == "!" for finding in found) else 0


def findings() -> Iterator[Finding]:
    """Everything that is looked at, in the order of the report."""
    yield Finding(" ", "elmo", f"{elmo.__version__} in {Path(elmo.__file__).parent}")
    yield Finding(" ", "python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    needed = bounds()
    if not needed:
        found = "which libraries it needs is not known: it runs from its sources and was not installed"
        yield Finding("-", "metadata", found, "pip install -e ., in the folder that has pyproject.toml")
    libraries = [_library(name, oldest) for name, oldest in needed.pop(None, {}).items()]
    yield from libraries
    yield _native()
    yield _gpu()
    for extra, its in needed.items():
        if extra not in ("dev", "docs", "test"):
            yield _extra(str(extra), its)
    if all(finding.mark == " " for finding in libraries):  # they read it
        yield _default_model()


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
        if bound := re.match(r"\s*([\w.-]++)[^>]*+>=\s*([\w.]+)", library):
            found.setdefault(extra and extra[1], {})[bound[1]] = bound[2]
    return found


def _library(name: str, oldest: str) -> Finding:
    advice = f"pip install --upgrade '{name}>={oldest}'"
    if lack := _lack(name, oldest):
        return Finding("!", name, lack, advice)
    try:
        import_module(name)
    except Exception as error:  # a damaged library can raise anything
        return Finding("!", name, f"can't be imported: {type(error).__name__}: {error}", advice)
    return Finding(" ", name, version(name))


def _lack(name: str, oldest: str) -> str:
    """What is wrong with the installed version of a library; "" if nothing is."""
    try:
        found = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    return "" if _numbers(found) >= _numbers(oldest) else f"{name} {found}, but {oldest} or newer is needed"


def _numbers(text: str) -> tuple[int, ...]:
    """2.13.0+cpu -> (2, 13, 0)"""
    return tuple(int(part) for part in text.split("+")[0].split(".") if part.isdigit())


def _native() -> Finding:
    from elmo.ops import native
    from elmo.ops.native.kinds import native_types

    if types := ", ".join(native_types()):
        return Finding(" ", "native library", f"uses {native.instructions()}; embeds with factors of {types}")
    if native.is_switched_off():
        return Finding("-", "native library", "left aside by ELMO_NATIVE=0: numpy embeds, slower", "unset ELMO_NATIVE")
    if native.library() is not None:
        found = "it has no code for this processor's instructions: numpy embeds, slower"
        return Finding("-", "native library", found)
    found = "can't be loaded" if native.LIBRARY.is_file() else "not built"
    advice = f"install a C compiler (gcc or clang), then: pip install --force-reinstall --no-deps {_sources()}"
    return Finding("-", "native library", f"{found}: numpy embeds, slower", advice)


def _sources() -> str:
    """What pip compiles the library from: the folder that elmo was installed from, or the registry's sources."""
    try:
        facts = json.loads(distribution("pyelmo").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        facts = {}
    if "dir_info" not in facts:
        return "--no-binary pyelmo pyelmo"  # or pip would take a wheel of Python alone again, and never compile
    editable = "-e " if facts["dir_info"].get("editable") else ""
    return f"{editable}'{url2pathname(urlsplit(facts['url']).path)}'"


def _gpu() -> Finding:
    try:
        torch = import_module("torch")
    except Exception:  # the finding of its extra has the reason
        return Finding(" ", "gpu", "none in use: without torch, the CPU computes")
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Finding(" ", "gpu", f"{', '.join(names)}, CUDA {torch.version.cuda}")
    if torch.version.cuda is not None:
        found = f"none in use, but torch comes with CUDA {torch.version.cuda}"
        return Finding("-", "gpu", found, f"if this machine has none, this build saves several GB: {_CPU_BUILD}")
    if shutil.which("nvidia-smi"):
        advice = "pip uninstall torch; pip install torch (the plain registry's build has CUDA)"
        return Finding("-", "gpu", "there is a driver, but this build of torch is for CPUs only", advice)
    return Finding(" ", "gpu", "none; this build of torch is for CPUs only")


def _extra(extra: str, libraries: dict[str, str]) -> Finding:
    lacks = [lack for name, oldest in libraries.items() if (lack := _lack(name, oldest))]
    if not lacks:
        return Finding(" ", f"extra [{extra}]", "installed")
    # Before an extra that brings torch: pip would take the build with several GB of CUDA.
    first = f"{_CPU_BUILD}; " if any(it.startswith("torch ") for it in lacks) and not shutil.which("nvidia-smi") else ""
    return Finding("-", f"extra [{extra}]", ", ".join(lacks), f"{first}pip install 'pyelmo[{extra}]'")


def _default_model() -> Finding:
    from elmo.weights import formats
    from elmo.weights.hub import DEFAULT_MODEL, MODEL_VARIABLE, resolve

    name = os.environ.get(MODEL_VARIABLE) or f"{DEFAULT_MODEL} (bundled)"
    try:
        formats.read(resolve(download=False))
    except Exception as error:  # whatever it is, the report has to be finished
        return Finding("!", "default model", f"{name} does not load: {error}")
    return Finding(" ", "default model", f"{name} loads")
