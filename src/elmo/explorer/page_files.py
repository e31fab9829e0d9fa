"""The page's files, read once into memory, and joined into one file that needs no other.

The modules are written so that joining is simple: every import is one line from a relative path, and every export
stands before a declaration or in a list of its own. Scripts and styles of the joined file are allowed by their SHA-256
alone, and nothing may be loaded from anywhere. A page that computes by itself holds its worker as text, joined of
`local/` and of `elmo.browser`.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

from elmo.disk.bounded import read_bytes

_FOLDER = Path(__file__).parent / "page"
_WORKER = Path(__file__).parent / "local" / "worker.js"
ENGINE = Path(__file__).parents[1] / "browser"
"""elmo.js, with its WebAssembly."""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_BYTES = 1 << 20
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|class)", re.MULTILINE)
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_DATA = '<script type="application/json" id="frozen">null</script>'
_STYLE = '<link rel="stylesheet" href="/explorer/style.css">'
_SCRIPT = '<script type="module" src="/explorer/main.js"></script>'
_ICON = '<link rel="icon" href="/explorer/icon.svg">'


@cache
def _files() -> dict[str, bytes]:
    paths = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    return {path.relative_to(_FOLDER).as_posix(): read_bytes(path, limit=_BYTES) for path in sorted(paths)}


def file_of(name: str) -> tuple[bytes, str] | None:
    """A file of the page with its media type, by its path in `page/`; None: there is no such file."""
    content = _files().get(name)
    return None if content is None else (content, _TYPES[Path(name).suffix])


def live_page(answers: str) -> str:
    """The page for a server, with answers (JSON) to show before any request."""
    return _text("index.html").replace(_DATA, _data(answers))


@cache
def saved_page(answers: str = "null") -> str:
    """The page as one file. The answers (JSON) are all it can show; "null" is the place for them."""
    return _one_file(answers, "")


def computing_page(answers: str, files: Mapping[str, str] | None = None) -> str:
    """The page with its worker. `files`: base64 of gzip of the files that the worker reads, by their names; None: they
    lie beside the page."""
    policy = " 'wasm-unsafe-eval'; worker-src blob:" + ("; connect-src 'self'" if files is None else "")
    data = {"worker": joined_worker(), **{f"file {name}": content for name, content in (files or {}).items()}}
    blocks = "".join(
        f'<script type="text/plain" id="{escape(name)}">{content}</script>\n' for name, content in data.items()
    )
    return _one_file(answers, policy).replace("</body>", f"{blocks}</body>")


def _one_file(answers: str, more_policy: str) -> str:
    """`more_policy`: what follows the allowed script in the policy."""
    style, script = _text("style.css"), joined_modules()
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'{more_policy}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    icon = base64.b64encode(_files()["icon.svg"]).decode()
    replacements = {
        _ICON: f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">',
        "<head>": f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        _STYLE: f"<style>{style}</style>",
        _SCRIPT: f'<script type="module">{script}</script>',
        _DATA: _data(answers),
    }
    page = _text("index.html")
    for before, after in replacements.items():
        assert page.count(before) == 1, before
        page = page.replace(before, after)
    return page


@cache
def joined_modules() -> str:
    """The page's modules as one script."""
    return _joined(_FOLDER / "main.js")


@cache
def joined_worker() -> str:
    """The worker's modules as one script: a page from disk may start no module as its worker."""
    return _joined(_WORKER)


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


def _data(answers: str) -> str:
    # "<" never stands in JSON but in strings, where its escape means the same: no text can end the element.
    return _DATA.replace("null", answers.replace("<", "\\u003c"))


def _text(name: str) -> str:
    return _files()[name].decode("utf-8")


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
