"""Runs the Python blocks of a guide in one namespace and compares what each prints with its comments.

    python tests/integrations/guide.py PAGE

runs a guide in the current folder and prints the versions of all that is installed, as JSON: `.ci/integrations` does so
in an environment that has nothing but what the guide says to install. Needs nothing but Python.
"""

import contextlib
import io
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def run(page: Path, names: dict[str, Any]) -> dict[str, Any]:
    """The names after the last block. A block whose first line is `# NAME` and that is not Python becomes that file."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    assert any(language == "python" for language, _ in found), page.name
    for language, block in found:
        first, _, rest = block.partition("\n")
        if language != "python" and (file := re.fullmatch(r"# ([\w.-]+\.\w+)", first)):
            Path(file[1]).write_text(rest, encoding="utf-8")
        elif language == "python":
            _run(page.name, block, names)
    return names


def _run(name: str, block: str, names: dict[str, Any]) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, name, "exec"), names)
    promised = [line.split("  # ", 1)[1] for line in block.splitlines() if line.startswith("print(") and "  # " in line]
    lines = printed.getvalue().splitlines()
    # Without a promise, what a trainer prints is its own affair.
    assert not promised or promised == lines, f"{name} promises {promised}, but printed were {lines}:\n{block}"


if __name__ == "__main__":
    run(Path(sys.argv[1]), {})
    print(json.dumps({it.metadata["Name"]: it.version for it in metadata.distributions()}))
