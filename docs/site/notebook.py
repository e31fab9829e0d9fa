"""The notebooks of the course, docs/course: run, with their outputs stored, and as pages of the site.

    python docs/site/notebook.py [NOTEBOOK ...]

runs notebooks (default: all of them) and stores what they print and draw, for instance after a bundled model has
changed. Needs the extras [dev,plot]. The site is built from the stored outputs, and tests/test_notebooks.py runs every
cell and compares.

A solution of an exercise is Python in a `<details>` of a cell of text. It is run in its place, and what it prints is
stored as the block of text after it.
"""

import base64
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

COURSE = Path(__file__).resolve().parents[1] / "course"

_SECONDS_PER_CELL = 1800
_SOLUTION = re.compile(r"(?<=^```python\n)(.*?)\n```\n(?:\n```text\n(.*?)\n```\n)?", flags=re.DOTALL | re.MULTILINE)


def executed(path: Path) -> dict[str, Any]:
    """The notebook with the outputs of a new run, and nothing in them that differs from run to run."""
    import nbformat
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell

    notebook = nbformat.read(path, as_version=4)
    kept = notebook.cells
    solutions = {cell.id: [new_code_cell(found[1]) for found in _SOLUTION.finditer(cell.source)] for cell in kept}
    notebook.cells = [it for cell in kept for it in (cell, *(solutions[cell.id] if _is_text(cell) else ()))]
    client = NotebookClient(notebook, kernel_name="python3", timeout=_SECONDS_PER_CELL, coalesce_streams=True)
    at_hand = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # the command elmo
    with patch.dict(os.environ, PATH=at_hand):
        client.execute(cwd=str(path.parent))
    for cell in kept:
        if _is_text(cell):
            said = iter(["".join(it.text for it in run.outputs).rstrip() for run in solutions[cell.id]])
            cell.source = _SOLUTION.sub(lambda found, said=said: _answered(found[1], next(said)), cell.source)
        cell.metadata = {"tags": cell.metadata.tags} if "tags" in cell.metadata else {}
        for output in cell.get("outputs", ()):
            if output.output_type == "display_data":
                output.data = {kind: data for kind, data in output.data.items() if kind == "image/png"}
                output.metadata = {}
    notebook.cells = kept
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    return json.loads(nbformat.writes(notebook))


def _is_text(cell: Any) -> bool:
    return cell.cell_type == "markdown"


def _answered(source: str, said: str) -> str:
    return f"{source}\n```\n\n```text\n{said}\n```\n" if said else f"{source}\n```\n"


def as_page(path: Path, images: Path) -> str:
    """The notebook in Markdown. `images`: the folder that gets its figures; the page lies in the folder above it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return "\n\n".join(_parts(notebook, path.stem, images)) + "\n"


def _parts(notebook: dict[str, Any], name: str, images: Path) -> Iterator[str]:
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source.replace(".ipynb)", ".md)")
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            if "text" in output:
                yield f"```text\n{''.join(output['text']).rstrip()}\n```"
            elif png := output.get("data", {}).get("image/png"):
                images.mkdir(parents=True, exist_ok=True)
                figure = images / f"{name}-{number}.png"
                figure.write_bytes(base64.b64decode("".join(png)))
                yield f"![Figure: see the text above the code]({images.name}/{figure.name})"


if __name__ == "__main__":
    for path in [Path(name) for name in sys.argv[1:]] or sorted(COURSE.glob("*.ipynb")):
        found = executed(path)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"run and stored: {path}", file=sys.stderr)
