"""How a wheel is built: what ELMO_NATIVE_BUILD says, and a tag that is true."""

import sys
import sysconfig
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from elmo.ops.native import build as native_build

ROOT = Path(__file__).parents[1]


class Hook:
    """What of hatchling's class the hook uses."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.warnings: list[str] = []
        self.app = SimpleNamespace(display_warning=self.warnings.append)


@pytest.fixture
def hook(monkeypatch, load_script):
    """The hook, over a stand-in for the build tool, which tests do without."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = Hook
    for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks", "hatchling.builders.hooks.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    module = load_script("hatch_build.py")
    for name in ("ELMO_NATIVE_BUILD", "ELMO_NATIVE_TARGET", "_PYTHON_HOST_PLATFORM", "ARCHFLAGS"):
        monkeypatch.delenv(name, raising=False)
    return module.NativeBuildHook(ROOT)


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)


def built(hook) -> dict:
    data = {"artifacts": []}
    hook.initialize("standard", data)
    return data


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_wheel_is_of_python_alone_and_says_so(hook):
    assert built(hook) == {"artifacts": []}
    assert "there is no C compiler" in hook.warnings[0]


@pytest.mark.usefixtures("no_compiler")
def test_a_release_job_requires_the_library(hook, monkeypatch):
    monkeypatch.setenv("ELMO_NATIVE_BUILD", "require")
    with pytest.raises(RuntimeError, match="ELMO_NATIVE_BUILD=require: there is no C compiler"):
        built(hook)


def test_the_library_is_left_out_on_purpose(hook, monkeypatch):
    monkeypatch.setenv("ELMO_NATIVE_BUILD", "skip")
    assert built(hook) == {"artifacts": []}
    assert hook.warnings == []


def test_an_unknown_mode_is_an_error(hook, monkeypatch):
    monkeypatch.setenv("ELMO_NATIVE_BUILD", "always")
    with pytest.raises(ValueError, match="'always', but must be one of: auto, require, skip"):
        built(hook)


def test_the_tag_is_that_of_this_system(monkeypatch):
    for name in ("ELMO_NATIVE_TARGET", "_PYTHON_HOST_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "linux-x86_64")
    assert native_build.platform_tag() == "linux_x86_64"
    monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "linux-aarch64")
    assert native_build.platform_tag() == "linux_aarch64"


@pytest.mark.parametrize(
    ("head", "processor"),
    [("cffaedfe0c000001", "arm64"), ("cffaedfe07000001", "x86_64"), ("cafebabe00000002", "universal2")],
)
def test_on_a_mac_the_processor_is_that_of_the_library(monkeypatch, tmp_path, head, processor):
    """A universal interpreter says universal2, whatever the compiler built."""
    (tmp_path / "library").write_bytes(bytes.fromhex(head))
    for name in ("ELMO_NATIVE_TARGET", "_PYTHON_HOST_PLATFORM", "MACOSX_DEPLOYMENT_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "macosx-10.9-universal2")
    assert native_build.platform_tag(tmp_path / "library") == f"macosx_11_0_{processor}"


@pytest.mark.parametrize(
    ("target", "tag"),
    [
        ("aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64"),
        ("x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64"),
        ("aarch64-macos.11.0", "macosx_11_0_arm64"),
        ("x86_64-windows-gnu", "win_amd64"),
    ],
)
def test_a_target_names_its_tag(monkeypatch, target, tag):
    monkeypatch.setenv("ELMO_NATIVE_TARGET", target)
    assert native_build.platform_tag() == tag


def test_a_target_without_a_tag_is_an_error(monkeypatch):
    monkeypatch.setenv("ELMO_NATIVE_TARGET", "riscv64-plan9")
    with pytest.raises(ValueError, match="riscv64-plan9.*no wheel tag"):
        native_build.platform_tag()
