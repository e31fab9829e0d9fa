"""`elmo doctor` as it is typed, and what it is told to look for."""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from elmo.cli.verbs import doctor
from elmo.cli.verbs.doctor import Finding, findings, main
from elmo.ops import native

torch = pytest.importorskip("torch")

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture(autouse=True)
def default_model(model_folder, monkeypatch):
    monkeypatch.setenv("ELMO_MODEL", str(model_folder))
    return model_folder


def found() -> dict[str, Finding]:
    return {finding.name: finding for finding in findings()}


def test_all_is_well_where_the_tests_run(capsys, default_model):
    assert main([]) == 0
    told = capsys.readouterr().out
    for name in ("elmo", "python", "numpy", "gpu", "extra [data]", "default model"):
        assert re.search(rf"^[ -] {re.escape(name)} ", told, re.M), name
    assert f"{default_model} loads" in told
    assert found()["native library"].mark == " " or "numpy embeds" in told


def test_a_model_that_does_not_load_is_broken(capsys, monkeypatch, default_model):
    (default_model / "model.safetensors").write_bytes(b"not a tensor")
    assert main([]) == 1
    assert "! default model" in (told := capsys.readouterr().out)
    assert str(default_model / "model.safetensors") in told
    monkeypatch.setenv("ELMO_MODEL", "some/model")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main([]) == 1


def test_libraries_that_are_missing_old_or_damaged_are_broken(capsys, monkeypatch, tmp_path):
    (tmp_path / "damaged_library.py").write_text("raise OSError('libfoo.so: no such file')")
    monkeypatch.syspath_prepend(tmp_path)
    version = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: "9" if name == "damaged_library" else version(name))
    monkeypatch.setattr(doctor, "requires", lambda _: ["numpy>=99.1", "not_there>=1.5", "damaged_library>=1"])
    assert main([]) == 1
    told = capsys.readouterr().out
    assert f"! numpy            numpy {np.__version__}, but 99.1 or newer is needed" in told
    assert "! not_there        not_there is not installed\n" in told
    assert "-> pip install --upgrade 'not_there>=1.5'" in told
    assert "can't be imported: OSError: libfoo.so: no such file" in told
    assert "default model" not in told


def test_an_extra_that_is_missing_or_old_is_a_note_with_the_line_that_installs_it(monkeypatch):
    lines = ["numpy>=1", "not_there>=1.5; extra == 'data'", "numpy[fast]<999,>=99.1 ; extra == 'data'"]
    monkeypatch.setattr(doctor, "requires", lambda _: lines)
    lacks = f"not_there is not installed, numpy {np.__version__}, but 99.1 or newer is needed"
    assert found()["extra [data]"] == ("-", "extra [data]", lacks, "pip install 'pyelmo[data]'")


@pytest.mark.parametrize(("driver", "cpu_build"), [(None, True), ("/usr/bin/nvidia-smi", False)])
def test_without_a_gpu_the_small_build_of_torch_is_advised_before_the_extra(monkeypatch, driver, cpu_build):
    version = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: "0" if name == "torch" else version(name))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: driver)
    advice = found()["extra [torch]"].advice
    assert advice.endswith("pip install 'pyelmo[torch]'")
    assert ("whl/cpu; pip" in advice) == cpu_build


def test_sources_that_were_not_installed_are_noted(monkeypatch):
    def requires(name: str):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "requires", requires)
    assert found()["metadata"].advice.startswith("pip install -e .")


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("origin", "advice"),
    [
        (None, "--no-deps --no-binary pyelmo pyelmo"),
        ({"url": "file:///my%20work/elmo", "dir_info": {"editable": True}}, "--no-deps -e '/my work/elmo'"),
        ({"url": "file:///work/elmo", "dir_info": {}}, "--no-deps '/work/elmo'"),
    ],
)
def test_a_missing_or_damaged_library_is_compiled_from_what_elmo_was_installed_from(
    monkeypatch, tmp_path, is_there, origin, advice
):
    """Not from a wheel of Python alone, and in a clone not from a registry that may have no such package."""
    monkeypatch.delenv("ELMO_NATIVE", raising=False)
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "library.so")
    installed = SimpleNamespace(read_text=lambda name: origin and json.dumps(origin))
    monkeypatch.setattr(doctor, "distribution", lambda name: installed)
    if is_there:
        (tmp_path / "library.so").write_bytes(b"no library")
    native.library.cache_clear()
    try:
        assert found()["native library"].advice.endswith(advice)
    finally:
        native.library.cache_clear()


@pytest.mark.parametrize(
    ("cuda", "driver", "mark", "advice"),
    [
        ("13.0", None, "-", "--index-url https://download.pytorch.org/whl/cpu"),
        (None, "/usr/bin/nvidia-smi", "-", "pip uninstall torch; pip install"),
        (None, None, " ", ""),
    ],
)
def test_the_wrong_build_of_torch_is_noticed(monkeypatch, cuda, driver, mark, advice):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: driver)
    assert found()["gpu"].mark == mark
    assert advice in found()["gpu"].advice


def test_every_extra_that_the_package_declares_is_looked_for():
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    told = {name.removeprefix("extra [").rstrip("]") for name in found() if name.startswith("extra")}
    assert set(extras) - {"dev", "docs", "test"} <= told
