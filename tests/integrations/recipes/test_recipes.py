"""docs/recipes.md with the real libraries; where one is not installed, its recipe is skipped."""

import contextlib
import importlib.util
import io
import os
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "recipes.md"
LIBRARIES = {
    "datasets": "datasets",
    "Polars": "polars",
    "pandas": "pandas",
    "gensim": "gensim",
    "faiss": "faiss",
    "LanceDB": "lancedb",
    "Spark": "pyspark",
    "LangChain": "langchain_openai",
}


def recipes() -> dict[str, list[str]]:
    """The Python blocks below each heading."""
    sections = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks = (re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL) for text in sections[1::2])
    return dict(zip(sections[::2], blocks, strict=True))


def run(name: str, **names: object) -> None:
    if importlib.util.find_spec(LIBRARIES[name]) is None:
        pytest.skip(f"needs {LIBRARIES[name]}")
    for block in recipes()[name]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, f"{PAGE.name}: {name}", "exec"), names)
        promised = [line.split("  # ", 1)[1] for line in block.splitlines() if line.startswith("print(")]
        assert printed.getvalue().splitlines() == promised, block


def test_every_recipe_has_blocks_and_a_test():
    assert set(recipes()) == set(LIBRARIES)
    assert all(recipes().values())


@pytest.mark.filterwarnings("ignore")  # the libraries' own
@pytest.mark.parametrize("name", ["datasets", "Polars", "pandas", "gensim", "faiss", "LanceDB"])
def test_a_recipe_runs(name, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    run(name)


@pytest.mark.slow  # a Java process and its workers
@pytest.mark.filterwarnings("ignore")
def test_the_recipe_for_spark_runs(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    run("Spark")


@pytest.mark.slow  # starts a server
@pytest.mark.filterwarnings("ignore")
def test_the_recipe_for_langchain_runs():
    pytest.importorskip("langchain_openai")
    from tests.serve.conftest import running

    from elmo.serve.models import ServedModel

    with running([ServedModel.load("small-en")]) as live:
        run("LangChain", SERVER=f"{live.url}/v1")
