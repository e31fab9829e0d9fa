"""Without its library, an adapter says which extra to install; nothing of `elmo` imports one by itself."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from elmo.errors import MissingExtraError
from elmo.integrations import onnx

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = {
    "spacy": ("spacy", "spacy"),
    "spacy_tok2vec": ("spacy", "spacy"),
    "sklearn": ("sklearn", "scikit-learn"),
    "sentence_transformers": ("sentence_transformers", "sentence-transformers"),
    "flair": ("flair", "flair"),
    "ray": ("ray", "ray"),
}
CODE = """
import importlib, json, sys
sys.path.insert(0, SOURCE)
from elmo.errors import MissingExtraError
import elmo.integrations
loaded = [library for library, _ in LIBRARIES.values() if library in sys.modules]
said = {}
for adapter, (library, _) in LIBRARIES.items():
    sys.modules[library] = None
    try:
        importlib.import_module(f"elmo.integrations.{adapter}")
    except MissingExtraError as error:
        said[adapter] = str(error)
print(json.dumps([loaded, said]))
"""


def test_a_missing_library_is_named_with_its_extra():
    code = f"SOURCE = {str(ROOT / 'src')!r}\nLIBRARIES = {LIBRARIES!r}\n{CODE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, said = json.loads(done.stdout)
    assert loaded == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for adapter, (_, extra) in LIBRARIES.items():
        assert f"pip install 'pyelmo[{extra}]'" in said[adapter], adapter
        assert extra in extras


def test_every_adapter_is_named_here():
    files = {path.stem for path in (ROOT / "src" / "elmo" / "integrations").glob("*.py")}
    assert files - {"__init__", "model_reference", "texts", "onnx"} == set(LIBRARIES)


def test_onnx_files_are_written_with_an_extra_that_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"needs onnx, which is not installed. .* pip install 'pyelmo\[onnx\]'"):
        onnx.require("float32")


def test_the_guides_lead_somewhere():
    pages = [*(ROOT / "docs" / "integrations").glob("*.md"), ROOT / "docs" / "recipes.md"]
    assert len(pages) >= 6
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_guide_names_the_versions_of_its_recorded_run():
    record = json.loads((ROOT / "docs/integrations/versions.json").read_text(encoding="utf-8"))
    guides = {path.stem: path for path in (ROOT / "docs/integrations").glob("*.md")}
    assert len(record) >= 4 and set(record) <= set(guides)
    for name, path in guides.items():
        said = re.findall(r"^Last run on .*\.$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert said == ([record[name]["guide"]] if name in record else []), name
    assert all("pyelmo" in found["versions"] for found in record.values())
