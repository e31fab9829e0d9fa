"""Notebooks of docs/notebooks: run, with their outputs stored, and as pages of the site.

    python docs/site/notebook.py [NOTEBOOK ...]

runs notebooks (default: all of them) and stores what they print and draw, for instance after a bundled model has
changed. Needs the extra [dev]. The site is built from the stored outputs, and tests/test_notebooks.py runs every cell
and compares.
"""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"

_SECONDS_PER_CELL = 300


def executed(path: Path) -> dict[str, Any]:
    """The notebook with the outputs of a new run, and nothing in them that differs from run to run."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, kernel_name="python3", timeout=_SECONDS_PER_CELL, coalesce_streams=True)
    client.execute(cwd=str(path.parent))
    for cell in notebook.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", ()):
            if output.output_type == "display_data":
                output.data = {kind: data for kind, data in output.data.items() if kind == "image/png"}
                output.metadata = {}
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    return json.loads(nbformat.writes(notebook))


def as_page(path: Path, images: Path) -> str:
    """The notebook in Markdown. `images`: the folder that gets its figures; the page lies in the folder above it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return "\n\n".join(_parts(notebook, path.stem, images)) + "\n"


def _parts(notebook: dict[str, Any], name: str, images: Path) -> Iterator[str]:
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
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
    for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        found = executed(path)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"run and stored: {path}", file=sys.stderr)
