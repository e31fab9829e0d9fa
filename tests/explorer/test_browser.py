"""The page in a real Chromium: the library's numbers, the keyboard alone, links, saved pages, hostile sentences,
accessibility, and no request to any other host.

Each test opens a page of its own, whose requests and errors are checked at its end.
"""

import json
import math
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.explorer import answers
from tests.explorer.computed import computation
from tests.explorer.opened import Opened, serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS = ("neighbors", "map", "compare", "gap", "computation")
HOSTILE = [
    "<img src=x onerror=alert(1)> spring",
    "</script><script>document.title='owned'</script>",
    "\u202etxet\u202c rtl \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "javascript:alert(1) {{7*7}} ${7*7} & < > \" '",
    "a\u0301" * 300,
]
LINE_ENDS = """() => [...document.querySelectorAll(".lines line")].map(
    (line) => [+line.getAttribute("x2"), +line.getAttribute("y2")])"""
IS_XML = """(text) =>
    new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") === null"""
NONSENSE = ["view=x&layer=9&s=99999|a b&s=&b=7&theme=no", "s=0|", "%%%", "weights=NaN,1,2&layer=mix", "model=none"]


def shown(value: float) -> str:
    text = f"{value:.2f}"
    return text.replace("-0.00", "0.00").replace("-", "−")


def whole(share: float) -> str:
    """As JavaScript rounds: halves up, where Python takes the even number."""
    return f"{math.floor(share + 0.5)}"


def example(models, name="small-en"):
    found = models[name].info().examples[0]
    return [(tokens, place) for tokens, place in zip(found.sentences, found.places, strict=True)]


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_neighbors_are_the_librarys(opened, address, models, model):
    opened.go(f"{address}/explorer#model={model}&lang=en")
    pair = example(models, model)
    noun = models[model].info().examples[0].noun
    both = [answers.neighbors(models[model], one, 6, None, noun) for one in pair]
    expected = [
        f"{near.tokens[near.position]} {shown(near.cosine)}"
        for layer in range(3)
        for answer in both
        for near in answer.layers[layer].other
    ]
    chips = opened.page.locator(".neighbors .chip").all()
    found = [f"{chip.locator('.word').inner_text()} {chip.locator('.value').inner_text()}" for chip in chips]
    assert found == expected
    lines = [near for layer in (1, 2) for answer in both for near in answer.layers[layer].same[:3]]
    assert opened.texts(".kwic .value") == [shown(near.cosine) for near in lines]
    assert opened.texts(".kwic .right") == [" ".join(near.tokens[near.position + 1 :]) for near in lines]


def test_a_noun_counts_with_all_its_particles(opened, address, models):
    opened.go(f"{address}/explorer#model=small-ko&lang=en&s=2|그 배우의 연기를 보았다 .")
    page, one = opened.page, (["그", "배우의", "연기를", "보았다", "."], 2)
    uses = [near.tokens[near.position] for near in answers.neighbors(models["small-ko"], one, 6, None).layers[2].same]
    assert set(uses) <= {"연기를"} and page.input_value("#noun") == ""
    page.fill("#noun", "연기")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*noun=*")
    opened.ready("neighbors")
    expected = answers.neighbors(models["small-ko"], one, 6, None, "연기").layers[2].same[:3]
    page.wait_for_function("() => !document.querySelector('#view').classList.contains('waiting')")
    shown_uses = page.locator(".neighbors .row").last.locator(".kwic b").all_inner_texts()
    assert shown_uses == [near.tokens[near.position] for near in expected]
    assert page.evaluate("document.activeElement.id") == "noun"
    page.click("#token-0-1")  # the noun says nothing of another word
    opened.ready("neighbors")
    assert page.locator(".problem").count() == 0


@pytest.mark.parametrize("view", VIEWS)
def test_a_narrow_window_and_a_large_zoom_break_no_word_and_scroll_only_down(opened, address, view):
    """200 % of 640 pixels leaves 320, what WCAG asks for (1.4.10)."""
    for width in (320, 360):
        opened.page.set_viewport_size({"width": width, "height": 640})
        opened.go(f"{address}/explorer#view={view}&lang=en")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        heights = opened.page.locator(".tabs button").evaluate_all("tabs => tabs.map((tab) => tab.offsetHeight)")
        assert max(heights) < 45, "a tab's name is broken"


def test_the_notes_on_trust_speak_of_the_layer_that_is_shown(opened, address, models):
    senses = models["small-en"].info().quality["senses"]
    for layer, share in enumerate(senses["layers"]):
        opened.page.goto("about:blank")
        opened.go(f"{address}/explorer#lang=en&layer={layer}")
        found = [re.search(r"same meaning (\d+) times", text)[1] for text in opened.texts(".layer-name .right")]
        assert found == [whole(one) for one in senses["layers"]]
        for view in ("neighbors", "map"):
            opened.view(view)
            (note,) = opened.texts(".quality")
            by = f"by layer {layer}" if layer else "by spelling alone"
            assert f"same meaning {whole(share)} times in 100 {by}" in note, (view, note)
    opened.page.click("#layer-mix")
    opened.ready("map mix")
    assert f"{whole(senses['mean'])} times in 100 by the mean" in opened.texts(".quality")[0]
    opened.page.goto("about:blank")
    opened.go(f"{address}/explorer#lang=en&view=map&layer=mix&weights=1,0.5,0")
    assert "for this mix it has not been measured" in opened.texts(".quality")[0]


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_each_view_says_once_how_far_to_trust_it(opened, address, models, model):
    quality = models[model].info().quality
    opened.go(f"{address}/explorer#model={model}&lang=en&view=gap")
    (note,) = opened.texts(".quality")
    first = [whole(quality["gap"]["first"][side]) for side in ("both", "forward", "backward")]
    assert re.findall(r"(?:first|left|right) (\d+)", note) == first
    assert opened.page.inner_text("#view").count("times in 100") == 1
    opened.view("map")
    assert len(opened.texts(".quality")) == 1
    if quality.get("note"):
        assert quality["note"]["en"] in opened.texts(".quality")[0]


def test_the_mix_has_a_row_of_its_own(opened, address, models):
    opened.go(f"{address}/explorer#layer=mix&weights=0.2,0.5,0.3")
    answer = answers.neighbors(models["small-en"], example(models)[0], 6, [0.2, 0.5, 0.3])
    row = opened.page.locator(".neighbors .row").nth(4).locator(".cell").first
    assert row.locator(".chip .value").all_inner_texts() == [shown(near.cosine) for near in answer.layers[3].other]
    opened.page.locator("#weight-1").focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_url("**/*weights=0.2%2C0.55%2C0.3*")


def test_the_map_is_the_librarys_and_moves_with_the_layer(start, models):
    found = answers.occurrences(models["small-en"], example(models), 300, None)
    start.page.emulate_media(reduced_motion="reduce")
    start.view("map")
    assert start.page.locator("svg.map [data-i]").count() == len(found.points)
    places = {}
    for layer in (2, 1, 0):
        start.page.click(f"#layer-{layer}")
        start.ready(f"map {layer}")
        places[layer] = drawn(start.page)
        assert spread(places[layer]) == pytest.approx(spread(found.layers[layer].points), rel=0.02, abs=1e-6)
        picture = found.layers[layer]
        honest = " ".join(start.texts(".honest li"))
        if layer:
            assert f"hold {100 * picture.variance:.0f} % of the layer’s variance" in honest
            assert f"{picture.kept:.1f} are among its 5" in honest
    assert len({(round(x, 1), round(y, 1)) for x, y in places[0]}) == 1
    assert len({(round(x), round(y)) for x, y in places[2]}) > 20


def drawn(page) -> list[tuple[float, float]]:
    """Places of the points in the picture's units, in the order of the points."""
    return page.evaluate(
        "() => [...document.querySelectorAll('svg.map [data-i]')].sort((a, b) => a.dataset.i - b.dataset.i)"
        ".map((one) => one.style.transform.match(/-?[\\d.]+(?=px)/g).map(Number))"
    )


def spread(points) -> float:
    """Distance of the first two points over the largest one from the first: the same on any scale."""
    distances = [((x - points[0][0]) ** 2 + (y - points[0][1]) ** 2) ** 0.5 for x, y in points]
    return distances[1] / max(distances) if max(distances) else 0.0


def test_lines_lead_to_the_true_neighbors(start, models):
    found = answers.occurrences(models["small-en"], example(models), 300, None)
    start.page.emulate_media(reduced_motion="reduce")
    start.view("map")
    start.page.locator('[data-i="7"]').dispatch_event("pointerover")
    point, places = found.points[7], drawn(start.page)
    assert start.texts(".reader .line") == [" ".join(point.tokens)]
    a, b = found.layers[2].to_marks[7]
    assert start.texts(".reader .muted") == [f"cosine: A {shown(a)} · B {shown(b)}"]
    ends = start.page.evaluate(LINE_ENDS)
    for end, true in zip(ends, found.layers[2].nearest[7], strict=True):
        assert end == pytest.approx(places[true], abs=0.1)


def test_words_for_the_gap_have_bars_as_long_as_their_probabilities_that_no_number_crosses(start, models):
    start.page.emulate_media(reduced_motion="reduce")
    start.view("gap")
    found = [answers.substitutes(models["small-en"], one, 10) for one in example(models)]
    sides = [side for one in found for side in (one.forward, one.backward, one.both)]
    lists = start.page.locator(".gap .side").all()
    for listed, side in zip(lists, sides, strict=True):
        if side.rank > 10:
            assert f"rank {side.rank:,}" in listed.locator("li.true .rank").inner_text()
        end = float(listed.locator(".ticks span").last.inner_text().removesuffix(" %"))
        ticks = [tick.bounding_box()["x"] for tick in listed.locator(".ticks span").all()]
        track = listed.locator(".track").first.bounding_box()
        assert ticks == pytest.approx([track["x"] + part * track["width"] for part in (0, 0.5, 1)], abs=1)
        for row, (word, value) in zip(listed.locator("li").all(), side.best, strict=False):
            assert row.locator(".word").inner_text().removesuffix("✓").strip() == word
            track, length, number = (row.locator(name).bounding_box() for name in (".track", ".length", ".value"))
            assert length["width"] == pytest.approx(max(2, track["width"] * 100 * value / end), abs=0.5)
            assert number["x"] >= track["x"] + track["width"]
    assert len(set(start.texts(".ticks"))) == 1, "one scale for all lists"


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_the_steps_of_a_computation_are_the_librarys(opened, address, models, model):
    opened.go(f"{address}/explorer#model={model}&view=computation&layer=1&lang=en&follow=1")
    one = example(models, model)[1]
    found = computation(models[model], one)
    ids = [number for letter in found.letters for number in letter.ids]
    assert [int(text.split()[-1]) for text in opened.texts(".ids > span")] == [*ids, 261]
    assert opened.texts(".spelled:not(.mark-of) > b") == list(one[0][one[1]])
    values = [figure(best.value) for width in found.filters for best in width.best]
    assert opened.texts(".filter p b") == values
    assert opened.page.locator(".bytes .count").all_text_contents() == [str(count) for count in found.covered]
    reads = [layer.reads for number in (0, 1) for layer in (reading.layers[number] for reading in found.readings)]
    expected = [f"{whole(100 * read.share)} %" for one in reads for read in one]
    assert opened.texts(".share-of") == expected
    assert opened.texts(".chosen-layer") == ["This is layer 1, which the other views show now."]
    cosines = [
        cut.cosines[number] for number in (0, 1) for reading in found.readings for cut in [*reading.cuts, None] if cut
    ]
    columns = opened.page.locator(".direction .columns li:not(.strong) .value").all_inner_texts()
    assert columns == [shown(value) for value in cosines]


def figure(value: float) -> str:
    digits = 1 if abs(value) >= 9.995 else 2 if abs(value) >= 0.9995 else 3
    return f"{value:.{digits}f}".replace("-", "−")


def test_the_mix_of_the_computation_is_that_of_the_other_views(start, models):
    page = start.page
    start.view("computation")
    page.locator("#w-2").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")  # w = (0, 0, 1)
    page.wait_for_url("**/*weights=0.212%2C0.212%2C0.576*")
    start.ready("computation mix")
    layers = computation(models["small-en"], example(models)[0]).layers
    mixed = sum(weight * layer[0] for weight, layer in zip((0.212, 0.212, 0.576), layers, strict=True))
    page.wait_for_function("() => document.querySelector('#mix-worked').textContent.includes('0.58')")
    assert float(page.locator("#mix-worked").inner_text().split("=")[-1].replace("−", "-")) == pytest.approx(
        mixed, abs=2e-3
    )
    assert page.evaluate("document.activeElement.id") == "w-2"


def test_a_long_word_breaks_no_line_of_its_computation(opened, address):
    opened.page.set_viewport_size({"width": 390, "height": 844})
    opened.go(f"{address}/explorer#view=computation&lang=en")
    opened.page.click("#edit-0")
    opened.page.fill("#typing", "Nobody knows " + "x" * 300)
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_selector("#follow-0:has-text('xxx')")
    texts = opened.texts("#view :is(p, h4, li, button)")
    assert any("x" * 39 + "…" in text for text in texts) and not any("x" * 40 in text for text in texts)
    heights = opened.page.locator(".follow button").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert max(heights) < 80


def test_what_the_top_layer_predicts_leads_to_the_gap(start, models):
    start.view("computation")
    tokens, place = example(models)[0]
    after = answers.substitutes(models["small-en"], (tokens, place + 1), 10).forward.best[0][0]
    assert start.page.locator(".expected").nth(1).locator("li").first.inner_text().startswith(after)
    start.page.click(f"#to-gap-{place + 1}")
    start.ready("gap")
    assert start.page.locator('.sentence.A .token[aria-pressed="true"]').inner_text() == tokens[place + 1]


def test_a_tour_by_the_keyboard_alone(start):
    page = start.page
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('#token-0-4[aria-pressed="true"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector('#token-1-2[aria-pressed="true"]')
    for key, view in zip("pcfn", ("map", "compare", "gap", "neighbors"), strict=True):
        page.keyboard.press(key)
        start.ready(view)
        assert page.locator(f"#tab-{view}").get_attribute("aria-selected") == "true"
    for key in "01m2":
        page.keyboard.press(key)
        page.wait_for_selector(f'#layer-{"mix" if key == "m" else key}[aria-pressed="true"]')
    page.keyboard.press("h")
    start.ready("computation")
    for key, shown in (("j", 2), ("j", 3), ("k", 2)):
        page.keyboard.press(key)
        page.wait_for_selector(f'#to-step-{shown}[aria-current="step"]')
        assert page.evaluate("document.activeElement.id") == f"step-title-{shown}"
    page.keyboard.press("p")
    start.ready("map")
    page.locator("svg.map").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.i !== undefined")
    assert start.texts(".reader .line") != []
    page.keyboard.press("?")
    assert page.locator("dialog").get_attribute("aria-label") == "Keys"
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("The fair judge gave a fair answer.")
    page.keyboard.press("Enter")
    page.wait_for_url("**/*fair+judge+gave*")
    page.keyboard.press("e")
    page.wait_for_selector('#example-0[aria-pressed="true"]')
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.locator("#tab-map").focus()
    page.keyboard.press("ArrowRight")
    start.ready("compare")
    assert page.evaluate("document.activeElement.id") == "tab-compare"


def test_a_link_restores_the_state(start, browser, address):
    page = start.page
    page.click("#example-1")
    page.click("#add")
    page.keyboard.type("No match for him.")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token-2-4")
    page.click("#token-2-1")
    start.view("compare")
    page.click("#layer-1")
    page.click("#theme")
    page.click("#language")
    start.ready("compare 1")
    link, table = page.url, start.texts(".matrix tbody td")
    assert not any("match+for" in url for url in start.requests), "the sentence went into an address that was asked for"
    other = Opened(browser.new_page(viewport={"width": 1180, "height": 900}))
    other.go(link)
    assert other.texts(".matrix tbody td") == table
    assert other.texts(".token") == start.texts(".token")
    assert other.page.url == link
    assert other.page.evaluate("[document.documentElement.lang, document.documentElement.dataset.theme]") == [
        "ko",
        "light",
    ]
    assert other.page.locator('.sentence.B .token[aria-pressed="true"]').inner_text() == "match"
    other.page.close()


@pytest.mark.parametrize("fragment", NONSENSE)
def test_a_link_without_sense_opens_something(opened, address, fragment):
    opened.go(f"{address}/explorer#{fragment}")
    assert opened.page.locator(".token").count() > 0


def test_a_saved_page_opens_from_disk_with_every_request_blocked(start, browser, models, tmp_path):
    start.view("map")
    with start.page.expect_download() as download:
        start.page.click("#save")
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    assert path.stat().st_size < 450_000
    check_offline(browser, path, models)


def check_offline(browser, path: Path, models) -> None:
    """All views and layers of a page without a server."""
    context = browser.new_context(offline=True, viewport={"width": 1180, "height": 900}, locale="en-US")
    page = Opened(context.new_page())
    blocked: list[str] = []

    def only_the_page(route) -> None:
        if route.request.url == path.as_uri():
            return route.continue_()
        blocked.append(route.request.url)
        return route.abort()

    context.route("**/*", only_the_page)
    page.go(path.as_uri())
    (a, _), (b, _) = example(models)
    for view in VIEWS:
        page.view(view)
    page.view("compare")
    for layer in (0, 1, 2):
        page.page.click(f"#layer-{layer}")
        page.ready(f"compare {layer}")
        table = answers.similarity(models["small-en"], a, b, None).layers[layer]
        assert page.texts(".matrix tbody td") == [shown(value) for row in table for value in row]
    page.view("map")
    assert page.page.locator("svg.map [data-i]").count() > 20
    page.view("neighbors")
    assert page.page.locator(".chip").count() > 30
    assert page.problems == [] and blocked == []
    assert [url for url in page.requests if url.startswith("http")] == []
    context.close()


@pytest.mark.parametrize("sentence", HOSTILE)
def test_a_hostile_sentence_shows_as_text(opened, address, sentence):
    tokens = sentence.split()
    opened.go(f"{address}/explorer#s={quote('0|' + sentence)}&s={quote('0|' + sentence)}")
    for view in VIEWS:
        opened.view(view)
        assert opened.texts(".sentence.A .token") == tokens
    opened.page.click("#code")
    opened.page.keyboard.press("Escape")
    with opened.page.expect_download() as download:
        opened.page.click("#save")
    page = Path(download.value.path()).read_text(encoding="utf-8")
    inside = re.search(r'id="frozen">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(inside)["state"]["sentences"][0]["tokens"] == tokens
    assert opened.page.locator("img:not(.brand > .mark)").count() == 0
    assert opened.page.title() == "elmo explorer"


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_taken_away_as_svg(start, view, tmp_path):
    start.view(view)
    with start.page.expect_download() as download:
        start.page.click("#svg")
    picture = Path(download.value.path()).read_text(encoding="utf-8")
    assert picture.startswith("<svg ") and "<script" not in picture and "<foreignObject" not in picture
    start.page.set_content("<p>")
    assert start.page.evaluate(IS_XML, picture)
    assert picture.count("<text") > 5 or picture.count("<circle") > 20


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_gives_the_same(start, view, capsys):
    start.view(view)
    start.page.click("#code")
    code = start.texts("dialog pre")[0]
    exec(compile(code, "code", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_serious_finding_of_axe(browser, address, theme, language):
    context = browser.new_context(viewport={"width": 1180, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    page = Opened(context.new_page())
    for view in VIEWS:
        page.page.goto("about:blank")
        page.go(f"{address}/explorer#view={view}&theme={theme}&lang={language}&model=small-{language}")
        assert serious_findings(page.page) == [], view
    context.close()
