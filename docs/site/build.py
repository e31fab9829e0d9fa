"""Builds the documentation site from docs/ and mkdocs.yml: `make docs`.

    python docs/site/build.py [FOLDER]

FOLDER (default build/site) gets a copy of docs/ that can be built by itself, and the built site in FOLDER/site:

- every page says in a description what it is about, for search engines, and in which language it is;
- the mark, the typefaces and the version are those of the explorer page (src/elmo/explorer/page);
- links out of docs/ lead to copies under files/; those to the README lead to the site's first page, and those to a
  notebook to its page;
- <S> and [one citation] [after another] in the prose are text there, not an element of HTML and a link;
- reference/command-line.md is made of every verb's --help, reference/http.md of what `elmo serve` says of itself, and
  changelog.md of CHANGELOG.md; the notebooks of docs/course become pages, with their stored outputs;
- one-file.md shows src/elmo/reference.py; explorer.md and the first page show the page that `elmo explore --export
  build/live-explorer` has made before, if it has.

Needs the extras [docs] and [serve]. A warning of the build is an error.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from elmo.cli.examples import EXAMPLES
from elmo.cli.main import VERBS, main
from elmo.explorer import page_files
from elmo.serve.operations import openapi
from elmo.version import __version__

sys.path.insert(0, str(Path(__file__).parent))
import http_page  # noqa: E402 - beside this file
import notebook  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOME = {ROOT / "README.md": DOCS / "index.md", ROOT / "CHANGELOG.md": DOCS / "changelog.md"}

# Columns that a block of code has on a page.
_WIDTH = 80
# What `elmo explore --export` has made, and where docs/explorer.md shows it.
_PAGE = ROOT / "src/elmo/explorer/page"
EXPLORER = ROOT / "build/live-explorer"
_EXPLORER_PAGE = "live-explorer/index.html"
_PLACE_OF_EXPLORER = "<!-- the explorer -->"
_PLACE_OF_FILE = "<!-- the file -->"
_FRAME = f"""<iframe src="{_EXPLORER_PAGE}" title="The explorer" loading="lazy"
style="width: 100%; height: 48rem; border: 1px solid #8884"></iframe>

This is the page itself, exported: it computes in your browser, loads 20 MB for each model that you look at, and sends
nothing anywhere. [Open it in a window of its own]({_EXPLORER_PAGE})."""
# The first page: without columns beside it, and with the explorer in place of its picture.
_NO_COLUMNS = "---\ntitle: Deep contextualized word vectors\nhide: [navigation, toc]\n---\n\n"
_LANDING_FRAME = '<iframe src="{page}" title="The explorer"></iframe>'
_LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", flags=re.MULTILINE | re.DOTALL)


def stage(folder: Path) -> None:
    """Writes the copy of docs/ that is built, its settings and what the reference is read from."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("site", "*.ipynb"))
    for page in DOCS.rglob("*.md"):
        staged = folder / "docs" / page.relative_to(DOCS)
        staged.write_text(with_links_inside(page.read_text(encoding="utf-8"), page, folder / "docs"), encoding="utf-8")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    log = with_links_inside(log, ROOT / "CHANGELOG.md", folder / "docs")
    (folder / "docs/changelog.md").write_text(log, encoding="utf-8")
    (folder / "docs/reference/command-line.md").write_text(command_line(), encoding="utf-8")
    (folder / "docs/reference/http.md").write_text(http_page.page(openapi()), encoding="utf-8")
    (folder / "docs/reference/openapi.json").write_text(json.dumps(openapi(), indent=1), encoding="utf-8")
    for path in notebook.COURSE.glob("*.ipynb"):
        page = notebook.as_page(path, folder / "docs/course/images")
        (folder / "docs/course" / f"{path.stem}.md").write_text(page, encoding="utf-8")
    source = (ROOT / "src/elmo/reference.py").read_text(encoding="utf-8")
    _put(folder / "docs/one-file.md", _PLACE_OF_FILE, f"## The file\n\n```python\n{source}```")
    has_explorer = (EXPLORER / "index.html").is_file()
    if has_explorer:
        _put(folder / "docs/explorer.md", _PLACE_OF_EXPLORER, _FRAME)
        shutil.copytree(EXPLORER, folder / "docs/live-explorer")
    first = folder / "docs/index.md"
    shown = _EXPLORER_PAGE if has_explorer else None
    first.write_text(landing(first.read_text(encoding="utf-8"), shown), encoding="utf-8")
    for page in (folder / "docs").rglob("*.md"):
        page.write_text(described(page.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "docs/images").mkdir(exist_ok=True)
    shutil.copy(_PAGE / "icon.svg", folder / "docs/images/mark.svg")
    look = (DOCS / "site/look.css").read_text(encoding="utf-8")
    (folder / "docs/look.css").write_text(look + look_of_explorer(), encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    address = page_files.source()
    settings += f"\nrepo_url: {address}\n" if address else ""
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    shutil.copy(DOCS / "site/docstrings.py", folder / "site_docstrings.py")
    (folder / "src").symlink_to(ROOT / "src")


def described(text: str) -> str:
    """A page with a description in its head: the beginning of its first paragraph, as plain text."""
    head, _, body = text.removeprefix("---\n").partition("---\n") if text.startswith("---\n") else ("", "", text)
    paragraphs = [
        it.strip() for it in re.split(r"\n\s*\n", re.sub(r"^```.*?^```$", "", body, flags=re.MULTILINE | re.DOTALL))
    ]
    prose = next((it for it in paragraphs if it and not re.match(r"#|\||<|!|-|:::|\d", it)), None)
    if prose is None:  # the site's own description
        return text
    plain = re.sub(r"[*`]", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose))
    said = json.dumps(textwrap.shorten(plain, 160, placeholder=" …"), ensure_ascii=False)
    return f"---\n{head}description: {said}\n---\n\n{body}"


def look_of_explorer() -> str:
    """CSS: the typefaces of the explorer page, and the version beside the site's name."""
    sans, mono = re.findall(
        r"^  --(?:sans|mono): (.*);$", (_PAGE / "style.css").read_text(encoding="utf-8"), re.MULTILINE
    )
    return (
        f"\nbody {{ --md-text-font-family: {sans}; --md-code-font-family: {mono}; }}\n"
        f'.md-header__topic:first-child .md-ellipsis::after {{ content: " {__version__}"; font-weight: 400; }}\n'
    )


def landing(text: str, explorer: str | None) -> str:
    """The first page: what comes before its picture beside the explorer's page, or else beside the picture."""
    found = re.search(r"^(\[.*\))\n\n(!\[.*\))$", text, flags=re.MULTILINE)
    assert found, "docs/index.md has no line of links followed by a picture"
    shown = _LANDING_FRAME.format(page=explorer) if explorer else f"<div markdown>\n\n{found[2]}\n\n</div>"
    leads = found[1].replace("(explorer.md)", f"({explorer})") if explorer else found[1]
    links = f"<div class='try' markdown>\n\n{leads}\n\n</div>"
    said = text[: found.start()] + links
    return (
        f"{_NO_COLUMNS}<div class='landing' markdown>\n<div markdown>\n\n{said}\n\n</div>\n{shown}\n</div>"
        + text[found.end() :]
    )


def _put(page: Path, place: str, content: str) -> None:
    """Puts something where a page has the line `place`."""
    text = page.read_text(encoding="utf-8")
    assert text.count(place) == 1, f"docs/{page.name} has no line {place}"
    page.write_text(text.replace(place, content), encoding="utf-8")


def with_links_inside(text: str, page: Path, staged: Path) -> str:
    """The text with its links out of docs/ leading to files that are copied into `staged`."""
    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(lambda found: _inside(found[1], page, staged), as_text(part)) for part in parts[::2]]
    return "".join(parts)


def as_text(prose: str) -> str:
    """Prose without code, whose <S> and [A] [B] Markdown would take for HTML and for a link."""
    return re.sub(r"\](\s?)\[", r"]\1\\[", re.sub(r"<(?=/?\w)", "&lt;", prose))


def _inside(link: str, page: Path, staged: Path) -> str:
    if link.endswith(".ipynb") and "://" not in link:
        link = link.removesuffix("ipynb") + "md"  # the page that is made of it
    target = (page.parent / link).resolve()
    at = DOCS if page.parent == ROOT else page.parent
    if "://" in link or (target.is_relative_to(DOCS) and at == page.parent):
        return link
    target = HOME.get(target, target)
    if not target.is_relative_to(DOCS):
        target = DOCS / _copied(target, staged)
    return Path(os.path.relpath(target, at)).as_posix()


def _copied(target: Path, staged: Path) -> Path:
    """Copies a file, or the files of a folder with a list of them; the place inside docs/ to link to."""
    place = Path("files") / target.relative_to(ROOT)
    if target.is_dir():
        listed = sorted(path for path in target.glob("*.md"))
        places = [_copied(path, staged) for path in listed]
        lines = [f"- [{path.stem}]({path.name})" for path in places]
        place = place / "index.md"
        (staged / place).write_text(f"# {target.name}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
        return place
    (staged / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(target, staged / place)
    return place


def command_line() -> str:
    """A page with the --help of every verb, and of the verbs below it."""
    parts = ["# Command line\n\n`elmo VERB --help` prints the same.\n"]
    parts += [f"## elmo {verb}\n\n```text\n{_help(verb)}\n```\n" for verb in _verbs()]
    return "\n".join(parts)


def _verbs() -> Iterator[str]:
    for verb in VERBS:
        yield verb
        yield from (name for name in EXAMPLES if name.startswith(f"{verb} "))


def _help(verb: str) -> str:
    printed = StringIO()
    with patch.dict(os.environ, COLUMNS=str(_WIDTH)), redirect_stdout(printed), suppress(SystemExit):
        main([*verb.split(), "--help"])
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
    assert plain.strip(), f"elmo {verb} --help printed nothing"
    # What is indented is laid out already; running text is not.
    lines = (line if line.startswith(" ") else textwrap.fill(line, _WIDTH) for line in plain.strip().splitlines())
    return "\n".join(line.rstrip() for line in lines)


def build(folder: Path) -> int:
    """Stages and builds; the exit code of the builder."""
    stage(folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", "mkdocs.yml"]
    code = subprocess.run(command, cwd=folder).returncode
    for page in [*(folder / "site/ko").glob("*.html"), *(folder / "site/course").glob("*-ko.html")]:
        page.write_text(
            page.read_text(encoding="utf-8").replace('<html lang="en"', '<html lang="ko"', 1), encoding="utf-8"
        )
    if code == 0:
        search = folder / "site/search.json"
        search.write_text(guides_first(search.read_text(encoding="utf-8")), encoding="utf-8")
    return code


def guides_first(index: str) -> str:
    """The index of the search in the order of the navigation: of places that match as well as each other, the search
    shows the first one first. Pages that the navigation doesn't have, records among them, are left out."""
    nav = re.findall(r": (\S+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    places = {f"{page}.html": place for place, page in enumerate(nav)}
    found = json.loads(index)
    placed = [(places.get(item["location"].partition("#")[0], -1), item) for item in found["items"]]
    found["items"] = [item for place, item in sorted(placed, key=lambda pair: pair[0]) if place >= 0]
    return json.dumps(found, ensure_ascii=False)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/site"
    code = build(folder.resolve())
    print(f"{folder}/site/index.html" if code == 0 else "The site was not built: see above.", file=sys.stderr)
    sys.exit(code)
