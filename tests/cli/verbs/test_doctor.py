"""`elmo doctor` as it is typed, and what it is told to look for."""

import json
import re
import tomllib
import warnings
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from elmo.cli.verbs import doctor
from elmo.cli.verbs.doctor import main
from elmo.ops import native
from elmo.process.resources import IDLE_THREAD_VARIABLES

torch = pytest.importorskip("torch")
on_gpu = pytest.importorskip("elmo.ops.projected_lstm.on_gpu")

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture(autouse=True)
def default_model(model_folder, monkeypatch):
    monkeypatch.setenv("ELMO_MODEL", str(model_folder))
    return model_folder


def findings(capsys) -> dict[str, dict[str, str]]:
    main(["--json"])
    return {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)}


def test_all_is_well_where_the_tests_run(capsys, default_model):
    found = findings(capsys)
    assert main([]) == 0
    assert found["native library"]["state"] == "ok" or "numpy embeds" in found["native library"]["found"]
    assert found["torch"] == {"name": "torch", "state": "ok", "found": doctor.version("torch"), "advice": ""}
    assert found["default model"]["found"].startswith(f"{default_model} ($ELMO_MODEL) loads, 0.0 M parameters")
    assert {finding["state"] for finding in found.values()} <= {"ok", "note"}


def test_the_table_has_a_line_for_each_finding(capsys):
    assert main([]) == 0
    told = capsys.readouterr().out
    for name in ("python", "cpu", "torch on the cpu", "gpu", "extra [data]", "disk"):
        assert re.search(rf"^[ -] {re.escape(name)} ", told, re.M), name


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
    assert f"! numpy            {np.__version__}, but 99.1 or newer is needed" in told
    assert "! not_there        is not installed\n" in told
    assert "-> pip install --upgrade 'not_there>=1.5'" in told
    assert "can't be imported: OSError: libfoo.so: no such file" in told
    assert "- default model    not tried" in told


def test_an_extra_that_is_missing_or_old_is_a_note_with_the_line_that_installs_it(capsys, monkeypatch):
    lines = ["numpy>=1", "not_there>=1.5; extra == 'data'", "numpy[fast]<999,>=99.1 ; extra == 'data'"]
    monkeypatch.setattr(doctor, "requires", lambda _: lines)
    found = findings(capsys)["extra [data]"]
    assert found["state"] == "note"
    assert found["found"] == (
        f"not_there not installed, numpy {np.__version__}, but 99.1 or newer is needed; needed for vectors in Parquet "
        "files and pandas tables"
    )
    assert found["advice"] == "pip install 'pyelmo[data]'"


@pytest.mark.parametrize(("driver", "cpu_build"), [(None, True), ("/usr/bin/nvidia-smi", False)])
def test_without_a_gpu_the_small_build_of_torch_is_advised_before_the_extra(capsys, monkeypatch, driver, cpu_build):
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "torch" else version(name))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: driver)
    advice = findings(capsys)["extra [torch]"]["advice"]
    assert advice.endswith("pip install 'pyelmo[torch]'")
    assert ("whl/cpu; pip" in advice) == cpu_build


def test_sources_that_were_not_installed_are_noted(capsys, monkeypatch):
    def requires(name: str):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "requires", requires)
    assert findings(capsys)["metadata"]["advice"].startswith("pip install -e .")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_library_that_is_missing_or_does_not_load_is_compiled_from_the_sources(
    capsys, monkeypatch, tmp_path, is_there
):
    """Not installed again from a wheel of Python alone."""
    monkeypatch.delenv("ELMO_NATIVE", raising=False)
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "library.so")
    if is_there:
        (tmp_path / "library.so").write_bytes(b"no library")
    native.library.cache_clear()
    try:
        assert "--no-binary pyelmo pyelmo" in findings(capsys)["native library"]["advice"]
    finally:
        native.library.cache_clear()


@pytest.mark.parametrize(
    ("warning", "works", "state", "said"),
    [
        (None, False, "note", "Triton is not installed"),
        ("Triton can't compile here (no gcc)", False, "note", "Triton can't compile here (no gcc)"),
        (None, True, "ok", "Triton compiles them"),
    ],
)
def test_it_says_whether_the_kernels_of_a_gpu_can_be_made(capsys, monkeypatch, warning, works, state, said):
    def kernels():
        if warning:
            warnings.warn(warning, stacklevel=1)
        return on_gpu if works else None

    monkeypatch.setattr(on_gpu, "kernels", kernels)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H200")
    found = findings(capsys)["gpu kernels"]
    assert found["state"] == state
    assert said in found["found"]
    assert ("C compiler" in found["advice"]) == (state == "note")


@pytest.mark.parametrize(
    ("cuda", "driver", "state", "advice"),
    [
        ("13.0", None, "note", "--index-url https://download.pytorch.org/whl/cpu"),
        (None, "/usr/bin/nvidia-smi", "note", "pip uninstall torch; pip install"),
        (None, None, "ok", ""),
    ],
)
def test_the_wrong_build_of_torch_is_noticed(capsys, monkeypatch, cuda, driver, state, advice):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: driver)
    found = findings(capsys)["gpu"]
    assert found["state"] == state
    assert advice in found["advice"]


def test_every_extra_that_the_package_declares_is_looked_for():
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras) - {"dev", "docs", "test"}
    assert set(doctor.EXTRAS) <= set(doctor.bounds())  # in the metadata that pip wrote


def test_instructions_of_the_processor_are_read_from_the_system(monkeypatch):
    text = "processor : 0\nflags\t\t: fpu avx2 avx512f amx_tile avx512_bf16 sse\n"
    monkeypatch.setattr(doctor.Path, "read_text", lambda self, encoding: text)
    assert doctor.cpu_features() == ["avx2", "avx512", "avx512_bf16", "amx"]


def test_it_says_whether_idle_threads_sleep(capsys, monkeypatch):
    for name in IDLE_THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert "GOMP_SPINCOUNT=1000" in findings(capsys)["idle threads"]["advice"]
    monkeypatch.setenv("GOMP_SPINCOUNT", "100")
    assert findings(capsys)["idle threads"]["found"] == "as GOMP_SPINCOUNT=100 says"
