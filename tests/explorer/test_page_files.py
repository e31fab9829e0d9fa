"""The page's files: small, joined whole, and without any other host."""

import json
import re
from email.message import Message
from pathlib import Path

import pytest

import elmo.explorer
from elmo.explorer import page_files
from elmo.explorer.page_files import joined_modules, joined_workers, page

FOLDER = Path(elmo.explorer.__file__).parent / "page"
LOCAL = FOLDER.parent / "local"
FILES = [path for path in FOLDER.rglob("*") if path.is_file()]
MODULES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.js")}


def test_all_files_together_are_small():
    assert sum(path.stat().st_size for path in FILES) < 190_000


def test_every_import_is_exported_where_it_comes_from():
    texts = {"texts": (FOLDER.parent / "learn" / "texts.js").read_text(encoding="utf-8")}
    imports = re.compile(r'^import \{ ([^}]*) \} from "(?:\.\.?/)+(?:\w+/)?(\w+)\.js";$', re.MULTILINE)
    for name, source in MODULES.items():
        found = imports.findall(source)
        for names, module in found:
            for imported in names.split(", "):
                assert re.search(
                    rf"^export (?:async )?(?:function|const|class) {imported}\b",
                    (MODULES | texts)[module],
                    re.MULTILINE,
                ), (name, imported)
        assert len(re.findall(r"^\s*import\b", source, re.MULTILINE)) == len(found)


def test_the_joined_modules_hold_all_modules_and_no_import():
    joined = joined_modules()
    assert not re.search(r"^\s*(?:import|export)\b", joined, re.MULTILINE)
    for source in MODULES.values():
        assert source.splitlines()[0] in joined


def test_the_joined_worker_is_one_script_of_all_its_modules():
    joined = joined_workers()["worker"]
    assert not re.search(r"^\s*(?:import|export)\b|import\.meta", joined, re.MULTILINE)
    sources = [path.read_text("utf-8") for path in (*LOCAL.glob("*.js"), *page_files.ENGINE.glob("*.js"))]
    for source in sources:
        assert source.splitlines()[0] in joined
    assert len(joined.encode()) < 170_000


def test_a_page_allows_its_worker_and_nothing_else():
    beside, inside = page("null"), page("null", {"a/b": "QUJD"})
    for made, connects in ((beside, True), (inside, False)):
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made)[1]
        assert "default-src 'none'" in policy and "'wasm-unsafe-eval'; worker-src blob:" in policy
        assert ("connect-src 'self'" in policy) == connects
        assert made.count('<script type="text/plain"') == len(page_files._WORKERS) + (not connects)
    assert '<script type="text/plain" id="file a/b">QUJD</script>' in inside


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (["Changelog, https://a/b", "Source, https://a/c, d"], "https://a/c, d"),
        (["Issues, https://a"], None),
        ([], None),
    ],
)
def test_the_address_of_the_source_is_the_one_in_the_metadata(monkeypatch, named, found):
    facts = Message()
    for line in named:
        facts["Project-URL"] = line
    monkeypatch.setattr(page_files, "metadata", lambda _: facts)
    assert page_files.source() == found
    assert json.loads(page_files.kept({}, (), {}))["answers"]["info"]["source"] == found


def test_nothing_names_another_host():
    for path in (*FILES, *LOCAL.iterdir()):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text and 'src="//' not in text and "url(" not in text, path.name
    for forbidden in ("innerHTML", "outerHTML =", "insertAdjacentHTML", "document.write", "eval("):
        assert forbidden not in joined_modules()


def test_a_kept_answer_can_not_end_its_element():
    hostile = json.dumps({"answers": {"x": "</script><script>alert(1)</script>"}})
    inside = re.search(r'<script type="application/json" id="frozen">(.*?)</script>', page(hostile), re.DOTALL)[1]
    assert json.loads(inside) == json.loads(hostile)


def test_a_page_is_one_small_file():
    made = page("null")
    assert "/explorer/" not in re.sub(r"<script type=\"module\">.*?</script>", "", made, flags=re.DOTALL)
    assert len(made.encode()) < 340_000
