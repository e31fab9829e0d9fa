"""The notebooks of docs/notebooks: every cell runs, and prints what is stored in the notebook, without a warning."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
LARGEST = 150_000


@pytest.fixture
def site_notebook(load_script) -> ModuleType:
    """What makes pages of notebooks."""
    return load_script("docs/site/notebook.py")


def test_there_are_notebooks_and_they_are_small() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        assert path.stat().st_size < LARGEST, path


def printed(notebook: dict[str, Any]) -> list[str]:
    """What each cell of code prints."""
    code = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return ["".join("".join(output.get("text", "")) for output in cell["outputs"]) for cell in code]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_prints_what_is_stored(path: Path, site_notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbclient")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    stored = json.loads(path.read_text(encoding="utf-8"))
    found = site_notebook.executed(path)
    figures = [[output["output_type"] for output in cell.get("outputs", ())] for cell in found["cells"]]
    assert figures == [[output["output_type"] for output in cell.get("outputs", ())] for cell in stored["cells"]]
    for before, now in zip(printed(stored), printed(found), strict=True):
        number = re.compile(r"-?\d+\.\d+")
        assert number.sub("0", now) == number.sub("0", before)
        # The last digit may differ from processor to processor.
        assert list(map(float, number.findall(now))) == pytest.approx(
            list(map(float, number.findall(before))), abs=0.02
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_becomes_a_page_with_its_code_outputs_and_figures(path: Path, site_notebook, tmp_path: Path) -> None:
    page = site_notebook.as_page(path, tmp_path / "images")
    stored = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert page.startswith("# ") and page.count("```python\n") == len(code)
    assert all(text.rstrip() in page for text in printed(stored))
    linked = re.findall(r"!\[[^]]*\]\((images/[\w.-]+)\)", page)
    assert linked and all((tmp_path / link).stat().st_size > 1000 for link in linked)
