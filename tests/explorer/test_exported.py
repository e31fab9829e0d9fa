"""Exported pages without a browser: their files, what they publish, and what can't be exported."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from elmo.errors import ConfigError, OutputError
from elmo.explorer import exported
from elmo.explorer.explored import Explored, Mix
from elmo.explorer.exported import export_file, export_folder
from elmo.explorer.texts import ExploredText
from elmo.weights.native.write import write


@pytest.fixture
def models(tiny_checkpoint, tmp_path, monkeypatch) -> dict[str, Explored]:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    write(tiny_checkpoint, tmp_path / "tiny")
    (tmp_path / "text.txt").write_text("강의  은행 </script>\nthe bank\n", encoding="utf-8")
    return {"tiny": Explored.load(str(tmp_path / "tiny"), text=ExploredText(tmp_path / "text.txt", "text.txt"))}


def kept_in(page: str) -> dict:
    return json.loads(re.search(r'id="frozen">(.*?)</script>', page, re.DOTALL)[1])


def test_a_folder_holds_the_models_own_files(models, tmp_path):
    export_folder(models, tmp_path / "page", [Mix("ner, seed-1", [0.2, 0.5, 0.3])])
    page = tmp_path / "page"
    for name in ("config.json", "model.safetensors"):
        assert (page / "tiny" / name).read_bytes() == (tmp_path / "tiny" / name).read_bytes()
    assert (page / "tiny" / "text.txt").read_text("utf-8") == "강의 은행 </script>\nthe bank\n"
    assert {"elmo.js", "elmo.wasm", "elmo.d.ts", "LICENSE"} <= {path.name for path in (page / "elmo").iterdir()}
    kept = kept_in((page / "index.html").read_text("utf-8"))
    assert (
        kept["engine"] == {"tiny": {"tokens_in_source": 5, "has_vocabulary": False, "config": None}}
        and not kept["is_complete"]
    )
    assert kept["answers"]["mixes"] == [{"name": "ner, seed-1", "weights": [0.2, 0.5, 0.3]}]
    assert {key.split(" ")[0] for key in kept["answers"]} == {"info", "mixes", "neighbors"}


def test_one_file_holds_the_same(models, tmp_path):
    export_file(models, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    files = re.findall(r'<script type="text/plain" id="file ([^"]+)">([^<]*)</script>', page)
    found = {name: gzip.decompress(base64.b64decode(content)) for name, content in files}
    assert set(found) == {"tiny/config.json", "tiny/model.safetensors", "tiny/text.txt", "elmo/elmo.wasm"}
    assert found["tiny/model.safetensors"] == (tmp_path / "tiny" / "model.safetensors").read_bytes()
    export_file(models, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_what_exists_is_replaced_only_if_one_says_so(models, tmp_path):
    export_folder(models, tmp_path / "page")
    (tmp_path / "page" / "answers.json").write_text("{}")  # which pages before 0.2 had
    with pytest.raises(OutputError, match="exists already"):
        export_folder(models, tmp_path / "page")
    export_folder(models, tmp_path / "page", force=True)
    assert not (tmp_path / "page" / "answers.json").exists()
    export_folder({"other": models["tiny"]}, tmp_path / "page", force=True)
    assert not (tmp_path / "page" / "tiny").exists()
    (tmp_path / "page" / "other" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds 'other'"):
        export_folder(models, tmp_path / "page", force=True)
    (tmp_path / "page" / "other" / "mine.txt").unlink()
    (tmp_path / "page" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        export_folder(models, tmp_path / "page", force=True)


def test_what_a_browser_cant_hold_is_refused_before_anything_is_written(models, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="its folder has no config.json. Export"):
        export_folder({"tiny": Explored(models["tiny"].model)}, tmp_path / "page")
    monkeypatch.setattr(exported, "MOST_TOKENS", 4)
    with pytest.raises(ConfigError, match="has 5 tokens, for which a browser .* --tokens 4"):
        export_file(models, tmp_path / "page.html")
    (Path(models["tiny"].folder) / "model.safetensors").rename(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match=r"tiny has no model\.safetensors"):
        export_folder(models, tmp_path / "page")
    assert not (tmp_path / "page").exists() and not (tmp_path / "page.html").exists()
