"""The documentation site: every public name and every page has its place, all links lead somewhere, and it builds."""

import importlib.util
import json
import os
import posixpath
import re
import sys
import tomllib
from html import unescape
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from tests.browser.served import served

import elmo
from elmo.cli.main import VERBS
from elmo.serve.operations import OPERATIONS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
GENERATED = [
    *("changelog.md", "reference/command-line.md", "reference/http.md"),
    *(f"course/{path.stem}.md" for path in DOCS.glob("course/*.ipynb")),
]


def links(text: str) -> list[str]:
    """Where a page links to, other sites left out."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose) if "://" not in link]


def test_every_page_is_in_the_navigation_once_and_no_deeper_than_a_group():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = settings.split("\nnav:\n")[1].split("\n\n")[0]
    assert sorted(re.findall(r": (\S+\.md)$", nav, flags=re.MULTILINE)) == sorted([*PAGES, *GENERATED])
    assert {len(line) - len(line.lstrip()) for line in nav.splitlines()} == {2, 6, 10}


def test_every_public_name_is_on_one_page_of_the_reference():
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")]
    assert sorted(re.findall(r"^::: elmo\.(\w+)$", "\n".join(pages), flags=re.MULTILINE)) == sorted(elmo.__all__)


def test_the_staged_pages_link_to_nothing_outside(tmp_path, load_script):
    load_script("docs/site/build.py").stage(tmp_path / "staged")
    staged = tmp_path / "staged/docs"
    for page in [*PAGES, *GENERATED]:
        for link in links((staged / page).read_text("utf-8")):
            target = ((staged / page).parent / link).resolve()
            assert target.is_file() and target.is_relative_to(staged), f"{page}: {link}"
    commands = (staged / "reference/command-line.md").read_text("utf-8")
    assert all(f"## elmo {verb}\n\n```text\nusage: elmo {verb}" in commands for verb in VERBS)
    http = (staged / "reference/http.md").read_text("utf-8")
    assert all(f"## {it.method} {it.path}\n\n{it.summary}." in http for it in OPERATIONS)
    assert all(f"## {name}" in http.lower() for name in re.findall(r"\]\(#(\w+)\)", http))
    assert json.loads((staged / "reference/openapi.json").read_text("utf-8"))["openapi"].startswith("3.")


def test_prose_is_text_and_code_is_left_as_it_is(tmp_path, load_script):
    said = "reads <S>, `</S>` and `a[0][1]` [BT] [AN][V] <!-- a remark -->\n\n```\n<S> [A][B]\n```\n"
    shown = "reads &lt;S>, `</S>` and `a[0][1]` [BT] \\[AN]\\[V] <!-- a remark -->\n\n```\n<S> [A][B]\n```\n"
    assert load_script("docs/site/build.py").with_links_inside(said, DOCS / "faq.md", tmp_path) == shown


def test_a_page_is_described_by_its_first_prose(load_script):
    described = load_script("docs/site/build.py").described
    text = "# Title\n\n```sh\nelmo\n```\n\nReads [`a` file](a.md) and\nsays **so**.\n\nMore.\n"
    assert described(text) == f'---\ndescription: "Reads a file and says so."\n---\n\n{text}'
    assert described("---\ntitle: A\n---\n\nB " + "c " * 99).startswith('---\ntitle: A\ndescription: "B c ')
    assert described("# Title\n\n| a |\n") == "# Title\n\n| a |\n"


def test_the_site_has_the_mark_the_typefaces_and_the_version_of_the_explorer(tmp_path, load_script):
    load_script("docs/site/build.py").stage(tmp_path / "staged")
    page, staged = ROOT / "src/elmo/explorer/page", tmp_path / "staged/docs"
    assert (staged / "images/mark.svg").read_bytes() == (page / "icon.svg").read_bytes()
    look = (staged / "look.css").read_text(encoding="utf-8")
    sans = (page / "style.css").read_text(encoding="utf-8").split("--sans: ")[1].split(";")[0]
    assert f"--md-text-font-family: {sans};" in look and f'content: " {elmo.__version__}"' in look


def test_the_tools_of_the_site_are_pinned_and_no_part_of_dev():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras["docs"] and all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in extras["docs"])
    assert not {line.split("==")[0] for line in extras["docs"]} & {re.split(r"\W", line)[0] for line in extras["dev"]}


def test_our_docstrings_become_rows_and_lists(monkeypatch, load_script):
    if importlib.util.find_spec("griffe") is None:  # only its class is a griffe extension; the rest is text
        griffe = ModuleType("griffe")
        for name in ("Extension", "Object", "GriffeLoader", "Class", "Function"):
            setattr(griffe, name, type(name, (), {}))
        monkeypatch.setitem(sys.modules, "griffe", griffe)
    text = (
        "One line about <S> and `</S>`.\n\n"
        '`state`: where it starts.\n    "zero"   nothing\n    "warm"   something\n'
        "`first`, `second`: a text\nthat goes on.\n`other`: of the result.\nRaises ConfigError."
    )
    assert load_script("docs/site/docstrings.py").as_google(text, {"state", "first", "second"}).splitlines() == [
        "One line about &lt;S> and `</S>`.",
        *("", "", "- `other`: of the result.", "Raises ConfigError.", "", "Args:"),
        *("    state: where it starts.", "", '        - `"zero"`: nothing', '        - `"warm"`: something'),
        *("    first: a text", "        that goes on.", "    second: a text", "        that goes on."),
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, load_script) -> Path:
    """The folder of the site: $ELMO_BUILT_SITE, which `make docs` has built, or built here."""
    if not (folder := os.environ.get("ELMO_BUILT_SITE")):
        pytest.importorskip("zensical", reason="needs pip install 'pyelmo[docs]', or $ELMO_BUILT_SITE")
        place = tmp_path_factory.mktemp("site")
        assert load_script("docs/site/build.py").build(place) == 0
        folder = str(place / "site")
    return ROOT / folder


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, str]:
    """The HTML of every page."""
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert {str(Path(page).with_suffix(".html")) for page in [*PAGES, *GENERATED]} <= set(pages)
    return pages


@pytest.mark.slow
def test_no_page_asks_another_host_for_anything(built):
    for name, html in built.items():
        prose = re.sub(r"<script\b.*?</script>", "", html, flags=re.DOTALL)  # the explorer's has "<S>" in its words
        assert not re.search(r"<s>", prose, flags=re.IGNORECASE), name
        assert not re.search(r"<(?:script|img|iframe)[^>]* src=\"?https?://", html), name
        assert not re.search(r"<link(?![^>]*canonical)[^>]* href=\"?https?://", html), name


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_the_first_page_shows_the_explorer_and_asks_no_other_host(site, browser, width):
    if not (site / "live-explorer/index.html").is_file():
        pytest.skip("needs the explorer's exported page, which `make docs` makes")
    foreign, said = [], []
    with served(site) as address:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on(
            "request",
            lambda it: foreign.append(it.url) if not it.url.startswith((address, f"blob:{address}", "data:")) else None,
        )
        page.on("console", lambda it: said.append(it.text) if it.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{address}/index.html")
        frame = page.locator(".landing iframe")
        frame.content_frame.get_by_text("Fill the gap").first.wait_for()
        assert width < 1000 or frame.bounding_box()["y"] < 300
        assert page.get_by_role("link", name="Try it in your browser").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()
    assert (foreign, said) == ([], [])


def test_the_first_page_puts_the_explorer_beside_its_claim_or_the_picture_where_there_is_none(load_script):
    build = load_script("docs/site/build.py")
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    shown, plain = (build.landing(text, page) for page in ("live-explorer/index.html", None))
    assert shown.startswith("---\ntitle: Deep contextualized word vectors\nhide: [navigation, toc]\n---\n")
    assert shown.count("<iframe") == 1 and "explorer-neighbors" not in shown and plain.count("explorer-neighbors") == 1
    assert shown.endswith(text[text.index("| I want to |") :])
    assert "[Try it in your browser](live-explorer/index.html)" in shown
    assert "[Try it in your browser](explorer.md)" in plain


@pytest.mark.slow
def test_the_built_reference_has_every_name_and_its_parameters(built):
    reference = "".join(html for name, html in built.items() if name.startswith("reference/"))
    assert {name for name in elmo.__all__ if f'id="elmo.{name}"' not in reference} == set()
    for parameter in ("keep_boundaries", "warm_state", "cache_bytes", "forget_sentences"):
        assert re.search(rf"<tr[^>]*>\s*<td>\s*<code>{parameter}</code>", built["reference/vectors.html"]), parameter


@pytest.mark.slow
def test_the_search_shows_guides_first_and_no_records(site):
    found = [it["location"].split("#")[0] for it in json.loads((site / "search.json").read_text("utf-8"))["items"]]
    assert found[0] == "index.html" and {Path(it).with_suffix(".md").as_posix() for it in found} == {*PAGES, *GENERATED}
    assert found.index("faq.html") < found.index("ko/faq.html") < found.index("reference/vectors.html")


@pytest.mark.slow
def test_links_of_the_built_site_lead_to_pages_and_places_on_them(built):
    places = {name: set(re.findall(r'\bid="([^"]+)"', html)) for name, html in built.items()}
    for name, html in built.items():
        for link in re.findall(r'<a\b[^>]* href="([^"]*)"', html):
            page, _, place = unescape(unquote(link)).partition("#")
            if re.match(r"[a-z]+:", page):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), page)) if page else name
            if place and target in places and not place.startswith("__"):
                assert place in places[target], f"{name}: {link}"
