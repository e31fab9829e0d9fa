"""Builds the native library into the wheel.

ELMO_NATIVE_BUILD says what happens without a working C compiler:
    auto      (default) a warning, and a wheel of Python alone, tagged `any`
    require   an error: for release jobs, which must not publish slow wheels unnoticed
    skip      no library even with a compiler: the wheel of Python alone, on purpose
ELMO_NATIVE_TARGET builds for another system, as zig and clang name it (aarch64-linux-gnu.2.28), with
CC="python -m ziglang cc".
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path("src/elmo/ops/native")
MODES = ("auto", "require", "skip")


class NativeBuildHook(BuildHookInterface):
    """Run by hatchling for every wheel, the editable one too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatchling about the file."""
        mode = os.environ.get("ELMO_NATIVE_BUILD", "auto")
        if mode not in MODES:
            raise ValueError(
                f"ELMO_NATIVE_BUILD is {mode!r}, but must be one of: {', '.join(MODES)}. Unset it for auto."
            )
        if mode == "skip":
            return
        build = _load(Path(self.root) / NATIVE / "build.py")
        problem = build.build()
        if problem is not None and mode == "require":
            raise RuntimeError(f"native library not built, but ELMO_NATIVE_BUILD=require: {problem}")
        if problem is not None:
            self.app.display_warning(f"native library not built: {problem}. numpy and torch compute instead, slower.")
            return
        build_data["artifacts"].append(str(NATIVE / build.LIBRARY.name))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build.platform_tag()}"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("native_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
