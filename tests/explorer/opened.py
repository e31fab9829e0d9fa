"""A page of the browser, as the tests use it, and what axe finds in it."""

import os
from pathlib import Path

import pytest


class Opened:
    """A page of the browser that remembers what it asked for and what went wrong."""

    def __init__(self, page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda it: self.problems.append(it.text) if it.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def go(self, url: str) -> None:
        self.page.goto(url)
        self.ready()

    def ready(self, view: str = "") -> None:
        """Waits until a view is drawn."""
        self.page.wait_for_selector(f'#view[data-ready^="{view}"]' if view else "#view[data-ready]", timeout=60_000)

    def hold(self, route: str) -> None:
        """From the next page on, what is asked of the worker by this route waits for `let`."""
        self.page.add_init_script(
            f"""window.held = [];
            window.Worker = class extends Worker {{
              postMessage(data) {{
                if (data.route === "{route}") held.push(() => super.postMessage(data));
                else super.postMessage(data);
              }}
            }};"""
        )

    def let(self, place: int) -> None:
        """Lets one of the requests that wait be answered."""
        self.page.wait_for_function(f"() => held.length > {place}")
        self.page.evaluate(f"held[{place}]()")
        self.page.wait_for_timeout(500)

    def view(self, view: str) -> None:
        self.page.click(f"#tab-{view}")
        self.ready(view)

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_inner_texts()


def serious_findings(page) -> list[tuple[str, str, str]]:
    """What axe calls serious or critical: rule, element, reason. The page's context needs `bypass_csp`."""
    page.evaluate(_axe())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in serious]


def _axe() -> str:
    try:
        import axe_playwright_python as axe
    except ImportError:
        if os.environ.get("ELMO_NEED_BROWSER"):
            raise
        pytest.skip("needs axe-core (pip install axe-playwright-python)")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
