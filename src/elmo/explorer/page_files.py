"""The page's files, joined into one file, served and exported alike.

The modules are written so that joining is simple: every import is one line from a relative path, and every export
stands before a declaration or in a list of its own. Scripts and styles of the joined file are allowed by their SHA-256
alone, and nothing may be loaded but what lies beside the page. It holds its workers as text: one joined of `local/` and
of `elmo.browser`, one of `learn/`; and as JSON what they must know.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import msgspec

from elmo.disk.bounded import read_bytes
from elmo.explorer.explored import Explored, Mix
from elmo.version import __version__

_FOLDER = Path(__file__).parent / "page"
_WORKERS = {"worker": "local/worker.js", "learner": "learn/worker.js"}
"""By the ids of the elements that hold them as text."""
ENGINE = Path(__file__).parents[1] / "browser"
"""elmo.js, with its WebAssembly."""
_BYTES = 1 << 20
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|class)", re.MULTILINE)
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_DATA = '<script type="application/json" id="frozen">null</script>'
_STYLE = '<link rel="stylesheet" href="/explorer/style.css">'
_SCRIPT = '<script type="module" src="/explorer/main.js"></script>'
_ICON = '<link rel="icon" href="/explorer/icon.svg">'


class Engine(msgspec.Struct):
    """What the worker must know of a model, beside the facts that the page shows."""

    tokens_in_source: int | None
    """Of the whole text, of which the index may hold a part."""
    has_vocabulary: bool
    config: Mapping[str, Any] | None = None
    """The architecture; None: the worker reads it in config.json."""


def kept(
    models: Mapping[str, Explored],
    mixes: Sequence[Mix],
    engines: Mapping[str, Engine],
    *,
    answers: Mapping[str, Any] | None = None,
    served: str | None = None,
) -> str:
    """As JSON: what the page knows when it opens.

    `answers`: to show before the worker has loaded, by the page's keys. `served`: the address below which a server has
    each model's layers and files; None: the worker computes, from files beside the page or in it.
    """
    info = {"version": __version__, "source": source(), "models": [model.info() for model in models.values()]}
    given = {"info": info, "mixes": mixes, **(answers or {})}
    facts = {"is_complete": False, "answers": given, "engine": engines, "served": served}
    return msgspec.json.encode(facts).decode()


def source() -> str | None:
    """The address of the source, by the package's metadata; None if they have none."""
    try:
        named = metadata("pyelmo").get_all("Project-URL", [])
    except PackageNotFoundError:  # run from a folder, not installed
        return None
    return dict(line.split(", ", 1) for line in named).get("Source")


def page(kept: str, files: Mapping[str, str] | None = None) -> str:
    """The page as one file. `kept`: what the function of that name gives; `files`: base64 of gzip of the files that the
    worker reads, by their names; None: they lie beside the page."""
    style, script = _text("style.css"), joined_modules()
    beside = "" if files else "connect-src 'self'; "
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}' 'wasm-unsafe-eval'; "
        f"worker-src blob:; {beside}img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
    icon = base64.b64encode(_text("icon.svg").encode()).decode()
    data = {**joined_workers(), **{f"file {name}": content for name, content in (files or {}).items()}}
    blocks = "".join(
        f'<script type="text/plain" id="{escape(name)}">{content}</script>\n' for name, content in data.items()
    )
    replacements = {
        _ICON: f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">',
        "<head>": f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        _STYLE: f"<style>{style}</style>",
        _SCRIPT: f'<script type="module">{script}</script>',
        # "<" never stands in JSON but in strings, where its escape means the same: no text can end the element.
        _DATA: _DATA.replace("null", kept.replace("<", "\\u003c")),
        "</body>": f"{blocks}</body>",
    }
    made = _text("index.html")
    for before, after in replacements.items():
        assert made.count(before) == 1, before
        made = made.replace(before, after)
    return made


@cache
def joined_modules() -> str:
    """The page's modules as one script."""
    return _joined(_FOLDER / "main.js")


@cache
def joined_workers() -> Mapping[str, str]:
    """Each worker's modules as one script: a page from disk may start no module as its worker."""
    return {name: _joined(_FOLDER.parent / path) for name, path in _WORKERS.items()}


def _joined(main: Path) -> str:
    """A module and all that it imports, each the body of a function, so that names are its own."""
    names: dict[Path, str] = {}
    parts: list[str] = []

    def add(path: Path) -> str:
        if path not in names:
            source = read_bytes(path, limit=_BYTES).decode("utf-8")
            source = _IMPORT.sub(lambda it: f"const {{{it[1]}}} = {add((path.parent / it[2]).resolve())};\n", source)
            exported = [
                *_EXPORTED.findall(source),
                *(name for it in _EXPORT_LIST.findall(source) for name in it.split(",")),
            ]
            names[path] = f"module{len(names)}"
            body = _EXPORT.sub("", _EXPORT_LIST.sub("", source))
            given = ", ".join(name.strip() for name in exported)
            parts.append(f"const {names[path]} = (() => {{\n{body}\nreturn {{ {given} }};\n}})();\n")
        return names[path]

    add(main)
    # The joined modules have no address of their own.
    joined = '"use strict";\n' + "".join(parts).replace("import.meta.url", "location.href")
    assert "</script" not in joined and "<!--" not in joined
    return joined


def _text(name: str) -> str:
    return read_bytes(_FOLDER / name, limit=_BYTES).decode("utf-8")


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
