"""Builds the native library into the wheel where a C compiler is at hand; without one the wheel is pure Python."""

import importlib.util
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path("src/elmo/ops/native")


class NativeBuildHook(BuildHookInterface):
    """Run by hatchling for every wheel, the editable one too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell hatchling about the file."""
        build = _load(Path(self.root) / NATIVE / "build.py")
        problem = build.build()
        if problem is not None:
            self.app.display_warning(f"native library not built: {problem}. Torch versions run instead, slower.")
            return
        build_data["artifacts"].append(str(NATIVE / build.LIBRARY.name))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("native_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
