"""The notebooks of the course: every cell and every solution runs, and prints what is stored, without a warning."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs/course").glob("*.ipynb"))
LARGEST = 300_000
# What training comes to depends on the processor's rounding: its figures stay within this, its words are not compared.
LEARNED = 0.2
_NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.fixture
def site_notebook(load_script) -> ModuleType:
    """What makes pages of notebooks."""
    return load_script("docs/site/notebook.py")


def test_each_lesson_is_there_in_both_languages_and_small():
    names = [path.stem for path in NOTEBOOKS]
    lessons = [name for name in names if not name.endswith("-ko")]
    assert lessons and sorted(names) == sorted([*lessons, *(f"{name}-ko" for name in lessons)])
    for path in NOTEBOOKS:
        assert path.stat().st_size < LARGEST, path
        assert text_of(json.loads(path.read_text(encoding="utf-8"))).count("<details markdown>") == 5, path


def text_of(notebook: dict[str, Any]) -> str:
    return "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def printed(notebook: dict[str, Any]) -> list[tuple[str, bool]]:
    """What each cell of code and each solution prints, and whether it depends on what was learned here."""
    found = []
    for cell in notebook["cells"]:
        learned = "learned" in cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code":
            assert not any(output.get("name") == "stderr" for output in cell["outputs"]), cell["outputs"]
            found.append(("".join("".join(output.get("text", "")) for output in cell["outputs"]), learned))
        else:
            answers = re.findall(r"\n```text\n(.*?)\n```\n", "".join(cell["source"]), flags=re.DOTALL)
            found += [(text, learned) for text in answers]
    return found


def unit(number: str) -> float:
    """Of the last digit, which may differ from processor to processor."""
    return max(0.02, 1.01 * 10 ** -len(number.split(".")[1]))


@pytest.mark.parametrize(
    "path",
    [pytest.param(it, marks=[pytest.mark.slow] if it.stem[0] != "1" else [], id=it.stem) for it in NOTEBOOKS],
)
def test_every_cell_runs_and_prints_what_is_stored(path, site_notebook, monkeypatch):
    pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    stored = json.loads(path.read_text(encoding="utf-8"))
    found = site_notebook.executed(path)
    figures = [[output["output_type"] for output in cell.get("outputs", ())] for cell in found["cells"]]
    assert figures == [[output["output_type"] for output in cell.get("outputs", ())] for cell in stored["cells"]]
    for (before, learned), (now, _) in zip(printed(stored), printed(found), strict=True):
        assert now.count("\n") == before.count("\n")
        if not learned:
            assert _NUMBER.sub("0", now) == _NUMBER.sub("0", before)
        if [len(it) for it in map(_NUMBER.findall, now.splitlines())] == [
            len(it) for it in map(_NUMBER.findall, before.splitlines())
        ]:
            for one, other in zip(_NUMBER.findall(now), _NUMBER.findall(before), strict=True):
                allowed = {"rel": LEARNED, "abs": LEARNED} if learned else {"abs": unit(other)}
                assert float(one) == pytest.approx(float(other), **allowed), before


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_becomes_a_page_with_its_code_outputs_and_figures(path, site_notebook, tmp_path):
    page = site_notebook.as_page(path, tmp_path / "images")
    stored = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    solutions = len(re.findall("^```python$", text_of(stored), flags=re.MULTILINE))
    assert page.startswith("# ") and page.count("```python\n") == len(code) + solutions
    assert all(text.rstrip() in page for text, _ in printed(stored))
    linked = re.findall(r"!\[[^]]*\]\((images/[\w.-]+)\)", page)
    assert linked and all((tmp_path / link).stat().st_size > 1000 for link in linked)
