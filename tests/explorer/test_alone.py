"""Exported pages in a real Chromium, as a folder below an address and as one file from disk: sentences that nobody kept
have the library's numbers, nothing is asked of anybody else, and axe finds nothing."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from tests.browser.served import served
from tests.explorer import answers
from tests.explorer.opened import Opened, serious_findings

from elmo.explorer.exported import export_file, export_folder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS = ("compare", "gap", "map", "neighbors")
SENTENCES = {
    "small-en": ["The old bank stood near the river.", "He put his money in the bank again."],
    "small-ko": ["배가 항구를 떠나 바다로 나갔다.", "밥을 많이 먹어서 배가 부르다."],
}
# Of a view after its model is there; such machines as these tests run on are busy.
MOST_SECONDS = 20


@pytest.fixture(scope="session")
def exported(models, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The addresses of the same page as a folder below another one, and as a file."""
    root = tmp_path_factory.mktemp("exported")
    export_folder(models, root / "below" / "my page")
    export_file(models, root / "page.html")
    with served(root) as address:
        yield {"folder": f"{address}/below/my%20page/", "file": (root / "page.html").as_uri(), "address": address}


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_typed_sentence_has_all_views(browser, exported, models, kind, record_property):
    context = browser.new_context(viewport={"width": 1180, "height": 900}, locale="en-US")
    opened = Opened(context.new_page())
    page = opened.page
    for model, sentences in SENTENCES.items():
        page.goto("about:blank")
        opened.go(f"{exported[kind]}#model={model}&lang=en")  # what was kept, before there is a model
        page.wait_for_function(
            "() => !/^Loading/.test(document.querySelector('.progress').textContent)", timeout=60_000
        )
        for row, sentence in enumerate(sentences):
            page.click(f"#edit-{row}")
            page.fill("#typing", sentence)
            page.keyboard.press("Enter")
            page.wait_for_selector(f"#token-{row}-0 >> text={sentence.split()[0]}", timeout=30_000)
        for view in VIEWS:
            began = time.monotonic()
            opened.view(view)
            seconds = time.monotonic() - began
            record_property(f"{kind} {model} {view}", seconds)
            assert seconds < MOST_SECONDS, (model, view)
        check_numbers(page, models[model])
    own = (exported["address"], "file:", "blob:", "data:", "about:")
    assert [url for url in opened.requests if not url.startswith(own)] == opened.problems == []
    context.close()


def check_numbers(page, model) -> None:
    """Requires the table of two typed sentences to be the library's."""
    from tests.explorer.test_browser import shown  # same rounding as the page's

    a, b = ([one.inner_text() for one in page.locator(f"[id^=token-{row}-]").all()] for row in (0, 1))
    page.click("#tab-compare")
    page.wait_for_selector('#view[data-ready^="compare"]')
    table = answers.similarity(model, a, b, None).layers[2]
    found = [float(text.replace("−", "-")) for text in page.locator(".matrix tbody td").all_inner_texts()]
    assert found == pytest.approx([float(shown(value).replace("−", "-")) for row in table for value in row], abs=0.011)


def test_the_next_visit_has_the_index(browser, exported, models):
    """small-ko, whose text is the smaller one: read once, then kept by the browser."""
    context = browser.new_context(locale="en-US")
    for _ in range(2):
        page = context.new_page()
        page.goto(f"{exported['folder']}#model=small-ko&lang=en")
        page.wait_for_function("() => document.querySelector('.progress')?.textContent === ''", timeout=300_000)
        seen = page.evaluate("performance.now()")
        page.click("#edit-0")
        page.fill("#typing", "그 배는 아주 크다 .")
        before = page.get_attribute("#view", "data-ready")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "(before) => ![before, undefined].includes(document.querySelector('#view').dataset.ready)", arg=before
        )
        place = page.locator('.sentence.A .token[aria-pressed="true"]').get_attribute("id").split("-")[2]
        noun = page.input_value("#noun") or None
        tokens = [one.inner_text() for one in page.locator("[id^=token-0-]").all()]
        noun = noun if noun and tokens[int(place)].startswith(noun) else None
        expected = answers.neighbors(models["small-ko"], (tokens, int(place)), 6, None, noun).layers[2].other
        chips = page.locator(".neighbors .row").nth(3).locator(".cell").first.locator(".chip .word")
        assert chips.all_inner_texts() == [near.tokens[near.position] for near in expected]
        page.close()
    assert seen < 60_000
    context.close()


def test_a_page_of_answers_is_saved_from_an_exported_page(browser, exported, tmp_path):
    context = browser.new_context(accept_downloads=True, locale="en-US")
    page = context.new_page()
    page.goto(f"{exported['folder']}#model=small-ko&view=compare&lang=en&s=0|%EB%B0%A5%EC%9D%84&s=0|%EB%B0%B0%EA%B0%80")
    page.wait_for_selector('#view[data-ready^="compare"]', timeout=60_000)
    page.wait_for_function("() => document.querySelector('.progress').textContent === ''", timeout=300_000)
    with page.expect_download(timeout=120_000) as download:
        page.click("#save")
    download.value.save_as(tmp_path / "saved.html")
    text = (tmp_path / "saved.html").read_text(encoding="utf-8")
    assert json.loads(re.search(r'id="frozen">(.*?)</script>', text, re.DOTALL)[1])["is_complete"]
    assert len(text) < 500_000
    saved = Opened(browser.new_context(offline=True).new_page())
    saved.go((tmp_path / "saved.html").as_uri())
    assert saved.page.locator(".matrix tbody td").count() == 1 and saved.problems == []
    context.close()


@pytest.mark.parametrize(("language", "width"), [("en", 1180), ("ko", 360)])
def test_a_toy_bilm_learns_in_the_page(browser, exported, language, width):
    """A seed in the address decides the run; two meanings are apart soon; axe finds nothing."""
    context = browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True)
    seen = []
    for _ in range(2):
        opened = Opened(context.new_page())
        opened.page.goto(f"{exported['folder']}#view=learn&learn=3,0.01,16,1&lang={language}")
        opened.page.wait_for_selector('#view[data-steps="0"]')
        for step in range(1, 3):
            opened.page.click("#learn-step")
            opened.page.wait_for_selector(f'#view[data-steps="{step}"]')
        seen.append(opened.texts(".learn .facts, .learn .side"))
    assert seen[0] == seen[1]
    opened.page.click("#learn-play")
    opened.page.wait_for_function(
        "() => Number(document.querySelector('[data-apart]').dataset.apart) > 1 &&"
        " Number(document.querySelector('#view').dataset.steps) > 300",
        timeout=120_000,
    )
    opened.page.click("#learn-play")  # pause
    assert serious_findings(opened.page) == [] and opened.problems == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_no_serious_finding_of_axe_while_it_loads(browser, exported):
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = Opened(context.new_page())
    page.go(f"{exported['folder']}#model=small-ko")
    assert serious_findings(page.page) == []
    context.close()


def test_an_exported_page_of_one_model_stays_below_25_megabytes(models, tmp_path):
    for name, model in models.items():
        export_folder({name: model}, tmp_path / name)
        assert sum(path.stat().st_size for path in (tmp_path / name).rglob("*") if path.is_file()) < 25_000_000
        export_file({name: model}, tmp_path / f"{name}.html")
        assert (tmp_path / f"{name}.html").stat().st_size < 25_000_000


def test_a_folder_that_lacks_its_model_says_so_and_not_that_it_is_loaded(browser, models, tmp_path):
    export_folder({"small-en": models["small-en"]}, tmp_path / "cut")
    (tmp_path / "cut/small-en/model.safetensors").unlink()
    with served(tmp_path / "cut") as address:
        page = browser.new_page()
        page.goto(f"{address}/")
        page.wait_for_selector(".progress:has-text('there is no model.safetensors')")
        page.wait_for_timeout(500)
        assert "there is no model.safetensors" in page.inner_text(".progress")
        page.close()
