"""How the page treats its reader: phones, long words and sentences, languages that a model has not read, the zoom and
the search of the map, the tour."""

import re
from urllib.parse import quote

import pytest
from tests.explorer import answers
from tests.explorer.opened import Opened, serious_findings

from elmo.explorer.texts import bundled_examples

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS = ("neighbors", "map", "compare", "gap")
KOREAN = quote("1|나는 어제 학교에 갔다 .")
LONG_WORD = "a" * 400
PRESSED = ".token[aria-pressed='true']"


@pytest.fixture
def phone(browser, address):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-US", bypass_csp=True
    )
    page = Opened(context.new_page())
    yield page
    assert page.problems == []
    context.close()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_phone_shows_the_column_of_the_chosen_word(phone, address, language):
    phone.go(f"{address}/explorer#view=compare&lang={language}&model=small-en")
    box, column = (phone.page.locator(f"#view {it}").first.bounding_box() for it in (".scroll", "thead th.chosen"))
    assert box["x"] <= column["x"] and column["x"] + column["width"] <= box["x"] + box["width"] + 1


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_phone_has_one_header_line_a_menu_and_targets_for_fingers(phone, address, view, language):
    phone.go(f"{address}/explorer#view={view}&lang={language}&model=small-{language}")
    page = phone.page
    assert page.locator("header").bounding_box()["height"] < 60
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#link").is_hidden() and page.locator(".keyboard:visible").count() == 0
    tabs = page.locator(".tabs button")
    assert all(tabs.evaluate_all("all => all.map((tab) => tab.scrollWidth <= tab.clientWidth)")), "a tab is too narrow"
    page.tap("#menu-button")
    assert page.locator("#menu").is_visible() and page.locator("#keys").is_hidden()
    boxes = [one.bounding_box() for one in page.locator("#menu button:visible, .tools button, .tabs button").all()]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 44
    page.tap("h1", position={"x": 5, "y": 5})
    assert page.locator("#menu").is_hidden()
    assert serious_findings(page) == []


def test_on_a_phone_the_layers_stay_at_hand_and_a_wide_table_shows_that_it_scrolls(phone, address):
    phone.go(f"{address}/explorer#view=compare&lang=en")
    page = phone.page
    page.locator(".scroll").evaluate("one => one.scrollTo(0, 0)")  # the page opens at the chosen word
    page.wait_for_selector(".scroller.more-after:not(.more-before)")
    page.locator(".scroll").evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    page.wait_for_selector(".scroller.more-before:not(.more-after)")
    phone.view("neighbors")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("() => scrollY > 300")
    assert 0 <= page.locator("#layer-1").bounding_box()["y"] < 60
    page.tap("#layer-1")
    phone.ready("neighbors 1")
    page.set_viewport_size({"width": 320, "height": 640})
    page.wait_for_selector(".tabs.more-after")


@pytest.mark.parametrize("view", VIEWS)
def test_a_word_of_400_letters_breaks_no_table(opened, address, view):
    two = f"s={quote(f'1|the {LONG_WORD} sat')}&s={quote('1|the cat sat')}"
    opened.go(f"{address}/explorer#view={view}&lang=en&{two}")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1180
    shown = opened.page.locator(f".sentence.A {PRESSED}")
    assert shown.inner_text() == LONG_WORD and shown.bounding_box()["height"] < 50
    boxes = "() => [...document.querySelectorAll('#view *')].map((one) => one.getBoundingClientRect().right)"
    assert max(opened.page.evaluate(boxes)) <= 1180


def test_an_answer_that_comes_late_takes_no_button_from_under_the_pointer(opened, address):
    opened.hold("text")
    opened.go(f"{address}/explorer#view=neighbors&lang=en")
    token = opened.page.query_selector(PRESSED)
    opened.let(0)
    opened.page.wait_for_function("() => /tokens/.test(document.querySelector('header .text').textContent)")
    assert token.evaluate("one => one.isConnected")


def test_a_long_sentence_keeps_the_page_short_and_says_so_beside_it(opened, address):
    opened.page.goto(f"{address}/explorer#lang=en&s={quote('0|' + 'word ' * 6000)}")
    opened.page.wait_for_selector(".problem")
    assert "6000 tokens, but the page shows 1 to 200" in opened.page.inner_text(".problem")
    assert "6,000 tokens; the page shows at most 200" in opened.page.inner_text(".sentence .warning")
    assert opened.page.locator(".problem").bounding_box()["y"] < 900
    assert opened.page.evaluate("document.documentElement.scrollHeight") < 1500


def test_what_is_wrong_with_a_typed_sentence_stays_in_the_editor(start):
    start.page.click("#edit-1")
    start.page.fill("#typing", "word " * 600)
    start.page.keyboard.press("Enter")
    start.page.wait_for_selector("#typing-problem")
    assert "600 tokens, but the page shows 1 to 200" in start.page.inner_text("#typing-problem")
    start.page.wait_for_timeout(3000)  # a toast would be gone
    assert start.page.input_value("#typing") == "word " * 600
    assert start.page.evaluate("document.activeElement.id") == "typing"
    start.page.fill("#typing", "a fair price")
    start.page.click("#typing-done")
    start.page.wait_for_selector("#token-1-2")


def test_text_in_another_language_is_marked_beside_it_and_not_trusted(opened, address):
    opened.go(f"{address}/explorer#lang=en&s={KOREAN}&s={quote('1|The spring is warm .')}")
    (warning,) = opened.texts(".sentence .warning")
    assert "small-en has not read this language" in warning
    for view in ("neighbors", "map", "gap"):
        opened.view(view)
        assert "times in 100" not in opened.page.inner_text("#view"), view
    assert opened.texts(".quality") == ["No figures on trust here: they were measured in the model’s own language."]
    opened.page.click("text=Use small-ko")
    opened.page.wait_for_url("**/*model=small-ko*")
    opened.ready("gap")
    assert opened.texts(".sentence.A .token") == ["나는", "어제", "학교에", "갔다", "."]
    (warning,) = opened.texts(".sentence .warning")
    assert "small-ko has not read this language" in warning and "Use small-en" in warning


@pytest.mark.parametrize(("text", "said"), [("مرحبا بالعالم هذا", "small-en has not read"), ("The spring", None)])
def test_the_warning_stays_while_the_sentence_does(start, text, said):
    start.page.click("#edit-0")
    start.page.fill("#typing", text)
    start.page.keyboard.press("Enter")
    start.page.wait_for_selector("#typing", state="detached")
    start.view("compare")
    start.view("gap")
    warnings = start.texts(".sentence .warning")
    assert [said in warning for warning in warnings] == ([True] if said else [])


def test_a_map_without_occurrences_claims_nothing(opened, address):
    opened.go(f"{address}/explorer#view=map&lang=en&s={quote('1|the xylograph sat')}&s={quote('1|a xylograph fell')}")
    assert len(opened.texts(".honest li")) == 2
    assert "too few occurrences" in opened.texts(".honest li")[1]
    assert opened.texts(".facts .note") == []
    opened.view("neighbors")
    assert opened.texts(".none") == ["No other use of this word in the text."] * 4
    assert opened.texts(".quality") == opened.texts(".layer-name .right") == []


def window_of(page) -> list[float]:
    return [float(one) for one in page.get_attribute("svg.map", "viewBox").split()]


def test_the_map_zooms_by_buttons_keys_wheel_and_hand(start):
    start.page.emulate_media(reduced_motion="reduce")
    start.view("map")
    page = start.page
    whole = window_of(page)
    page.click("#zoom-in")
    assert window_of(page)[2] == pytest.approx(whole[2] / 1.5, abs=0.01)
    mark = page.locator(".point:not(.mark) .round, .point:not(.mark) .square").first
    size = mark.bounding_box()["width"]
    page.locator("svg.map").focus()
    page.keyboard.press("+")
    assert window_of(page)[2] == pytest.approx(whole[2] / 2.25, abs=0.01)
    assert mark.bounding_box()["width"] == pytest.approx(size, rel=0.05), "marks keep their size"
    box = page.locator("svg.map").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 70)
    page.mouse.up()
    left, top = window_of(page)[:2]
    page.keyboard.press("Home")
    assert window_of(page) == whole
    at = (box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
    page.mouse.move(*at)
    page.mouse.wheel(0, -400)
    page.wait_for_function("() => document.querySelector('svg.map').classList.contains('zoomed')")
    x, y, width, _ = window_of(page)
    assert x + width / 4 == pytest.approx(whole[2] / 4, abs=1), "what is under the pointer stays there"
    page.click("#zoom-reset")
    page.locator("h1").click()
    page.mouse.move(*at)
    page.mouse.wheel(0, 300)
    page.wait_for_function("() => scrollY > 0")
    assert window_of(page) == whole, "a wheel that passes over the map scrolls the page"
    assert (left, top) != (0, 0)


def test_two_fingers_zoom_the_map(phone, address):
    phone.go(f"{address}/explorer#view=map&lang=en")
    page = phone.page
    page.locator("svg.map").scroll_into_view_if_needed()
    box = page.locator("svg.map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, apart: float | None) -> None:
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 30)
    for apart in (40, 50, 60):
        fingers("touchMove", apart)
    fingers("touchEnd", None)
    assert window_of(page)[2] == pytest.approx(640 / 2, rel=0.1)


def test_a_search_leaves_the_points_whose_sentences_hold_the_word(start, models):
    start.view("map")
    sentences = [(one.sentences[i], one.places[i]) for one in bundled_examples("en")[:1] for i in range(2)]
    points = answers.occurrences(models["small-en"], sentences, 300, None).points
    expected = {i for i, point in enumerate(points) if "left" in " ".join(point.tokens).lower()}
    assert len(expected) > 1
    start.page.fill("#find", "Left")
    assert start.page.inner_text(".map-tools output") == f"{len(expected)} of {len(points)}"
    found = start.page.locator(".point.found").evaluate_all("all => all.map((one) => Number(one.dataset.i))")
    assert set(found) == expected
    start.page.keyboard.press("Enter")
    assert "left" in start.texts(".reader .line")[0].lower()
    start.page.click("#layer-1")
    start.ready("map 1")
    assert start.page.locator(".point.found").count() == len(expected)
    start.page.fill("#find", "")
    assert start.page.locator(".point.found").count() == 0


def tour_titles(page: Opened, steps: int) -> list[str]:
    """Goes through the tour by the keyboard alone; every step has the focus, and is beside what it points at."""
    titles = []
    for step in range(steps):
        page.page.wait_for_function(
            f"""() => document.querySelector('.tour-tools .muted')?.textContent.match(/\\d+/g).includes('{step + 1}')
                && document.activeElement.id === 'tour-title'"""
        )
        card, ring = (page.page.locator(name).bounding_box() for name in (".tour", ".tour-ring"))
        height = page.page.viewport_size["height"]
        assert card["y"] >= -1 and card["y"] + card["height"] <= height + 1
        assert ring["width"] > 30 and ring["y"] < height and ring["y"] + ring["height"] > 0
        titles.append(page.page.inner_text("#tour-title"))
        page.page.keyboard.press("Tab")  # to the button that ends it
        page.page.locator("#tour-next").focus()
        page.page.keyboard.press("Enter")
    page.page.wait_for_selector(".tour", state="detached")
    return titles


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_tour_opens_by_a_link_and_ends_where_it_began(opened, address, language):
    opened.go(f"{address}/explorer#tour&model=small-{language}&lang={language}")
    titles = tour_titles(opened, 10)
    assert len(set(titles)) == 10
    assert all(bool(re.search("[가-힣]", title)) is (language == "ko") for title in titles)
    opened.ready("neighbors")
    assert opened.page.evaluate("document.activeElement.id") == "tour"
    assert opened.page.locator(".tour-ring").count() == 0


def test_a_tour_can_be_left_and_brings_the_own_sentences_back(opened, address):
    opened.go(f"{address}/explorer#lang=en&s={quote('1|a fair price')}")
    opened.page.click("#tour")
    opened.page.wait_for_selector(".tour-tools:has-text('1 of')")
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function("() => document.querySelector('.tour-tools')?.textContent.startsWith('2 of')")
    assert opened.texts(".sentence.A .token")[3] == "right"
    opened.page.keyboard.press("Escape")
    opened.page.wait_for_selector(".tour", state="detached")
    assert opened.texts(".token") == ["a", "fair", "price"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_tour_and_the_warnings(browser, address, theme):
    context = browser.new_context(viewport={"width": 1180, "height": 900}, bypass_csp=True, reduced_motion="reduce")
    page = Opened(context.new_page())
    for state in (f"s={KOREAN}&view=map", "tour", f"s={quote('1|They sat on the bank of the river .')}"):
        page.page.goto("about:blank")
        page.go(f"{address}/explorer#{state}&theme={theme}&lang=en")
        page.page.click("#edit-0") if "bank" in state else None
        assert serious_findings(page.page) == [], state
    context.close()


def test_a_copied_link_is_not_told_behind_a_dialog(start):
    start.page.context.grant_permissions(["clipboard-write"])
    start.page.click("#link")
    start.page.wait_for_selector(".toast span")
    start.page.click("#code")
    assert start.page.locator(".toast span").count() == 0


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_example_that_fails_says_why_in_the_language_of_the_page(opened, address, language):
    number, failing = next((i, one) for i, one in enumerate(bundled_examples(language)) if not one.works)
    opened.go(f"{address}/explorer#model=small-{language}&lang={language}")
    opened.page.click(f"#example-{number}")
    opened.ready("neighbors")
    assert failing.why[language] in opened.page.inner_text(".why.failing")


def typed(page, text: str) -> None:
    page.fill("#typing", text)
    page.keyboard.press("Enter")


@pytest.fixture
def late(opened, address) -> Opened:
    """A page whose requests for tokens are answered when a test lets them."""
    opened.hold("tokens")
    opened.go(f"{address}/explorer")
    return opened


def test_of_two_typed_sentences_the_last_one_stays_whichever_answer_comes_first(late):
    late.page.click("#edit-0")
    typed(late.page, "first words")
    typed(late.page, "other words")
    for place in (1, 0):
        late.let(place)
        assert late.texts(".sentence.A .token") == ["other", "words"]


def test_a_typed_sentence_that_was_cancelled_or_whose_place_is_gone_does_not_come_back(late):
    before = late.texts(".sentence.A .token")
    late.page.click("#edit-0")
    typed(late.page, "first words")
    late.page.keyboard.press("Escape")
    late.let(0)
    assert late.texts(".sentence.A .token") == before
    kept = late.texts(".sentence.B .token")
    late.page.click("#edit-1")
    typed(late.page, "other words")
    late.page.click("#remove-0")
    late.let(1)
    assert late.texts(".token") == kept


@pytest.mark.parametrize(
    ("opens", "sent", "left"),
    [
        ("edit-0", ["Escape"], "token-0-"),
        ("edit-1", ["Tab", "Tab", "Enter"], "token-1-"),  # the button that cancels
        ("edit-1", ["Enter"], "token-1-"),
        ("edit-1", ["Tab", "Enter"], "token-1-"),
        ("add", ["Enter"], "token-2-"),
        ("add", ["Escape"], "add"),
    ],
)
def test_the_focus_goes_from_what_was_typed_to_the_selected_token(start, opens, sent, left):
    page = start.page
    page.click(f"#{opens}")
    page.fill("#typing", "a fair price")
    for key in sent:
        page.keyboard.press(key)
    page.wait_for_selector("#typing", state="detached")
    page.wait_for_function(f"() => document.activeElement.id.startsWith('{left}')")
    assert left == "add" or page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_keys_of_steps_that_are_not_there_yet_do_nothing(opened, address):
    opened.hold("computation")
    opened.go(f"{address}/explorer")
    opened.page.keyboard.press("h")
    opened.page.keyboard.press("j")
    opened.page.wait_for_selector("#view.waiting")
    opened.page.keyboard.press("k")
    assert opened.page.evaluate("held.length") and opened.problems == []


def test_an_answer_closes_no_editor_of_another_sentence(late):
    late.page.click("#edit-0")
    typed(late.page, "first words")
    late.page.click("#edit-1")
    late.page.fill("#typing", "half a sen")
    late.let(0)
    assert late.texts(".sentence.A .token") == ["first", "words"]
    assert late.page.input_value("#typing") == "half a sen"
    assert late.page.evaluate("document.activeElement.id") == "typing"


def test_keys_of_an_input_method_send_and_cancel_nothing(start):
    start.page.click("#edit-0")
    start.page.fill("#typing", "한글 문장")
    for key in ("Enter", "Escape"):
        start.page.locator("#typing").dispatch_event("keydown", {"key": key, "isComposing": True})
    start.page.wait_for_timeout(200)
    assert start.page.input_value("#typing") == "한글 문장"


def test_a_link_that_is_opened_while_somebody_types_closes_the_editor(start):
    start.page.click("#add")
    start.page.evaluate("location.hash = 's=0|one sentence'")
    start.page.wait_for_function("() => document.querySelectorAll('.token').length === 2")
    assert start.page.locator("#typing").count() == 0 and start.page.locator("#add").is_visible()


def test_a_view_whose_turn_is_over_dims_no_other(opened, address):
    opened.hold("substitutes")
    opened.go(f"{address}/explorer")
    opened.page.evaluate("for (const view of ['gap', 'neighbors']) document.getElementById(`tab-${view}`).click()")
    opened.page.wait_for_timeout(400)
    assert opened.page.evaluate("held.length") and opened.page.locator("#view.waiting").count() == 0


def test_what_can_not_be_shown_is_said_and_not_dimmed(opened, address):
    def without_softmax(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"has_softmax":true', '"has_softmax":false'))

    opened.page.route(re.compile(r"/explorer(#.*)?$"), without_softmax)
    opened.hold("occurrences")
    opened.go(f"{address}/explorer#lang=en")
    opened.page.click("#tab-map")
    opened.page.wait_for_selector("#view.waiting")
    opened.page.click("#tab-gap")
    assert "no softmax file" in opened.page.inner_text(".problem")
    assert opened.page.locator("#view.waiting").count() == 0


def test_arrow_keys_scroll_a_table_that_has_the_focus(opened, address):
    opened.page.set_viewport_size({"width": 390, "height": 900})
    opened.go(f"{address}/explorer#view=compare&lang=en")
    before = opened.page.locator(PRESSED).evaluate_all("all => all.map((one) => one.id)")
    opened.page.locator(".scroll").focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_function("() => document.querySelector('.scroll').scrollLeft > 0")
    assert opened.page.locator(PRESSED).evaluate_all("all => all.map((one) => one.id)") == before


def test_a_search_of_the_map_ends_with_its_map(start):
    start.view("map")
    start.page.fill("#find", "water")
    start.page.click("#token-0-0")
    start.page.wait_for_function("() => document.querySelector('#find').value === ''")
    start.page.focus("#find")
    start.page.keyboard.press("Enter")
    assert start.page.locator(".point.read").count() == 0
