"""The pictures of docs/explorer.md: every view of the page, light and dark, English and Korean, from a real Chromium.

    python runs/pages/explorer_pictures.py [NAME ...]

Starts `elmo explore` with the bundled models, writes docs/images/NAME.png, and ends it. Names are those of the files,
without `.png`; default: all twenty. Needs playwright and Pillow (in `pyelmo[dev]`) and the system's Chromium with
fonts for Hangul (apt-get install chromium fonts-noto-cjk).
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SIZE = ViewportSize(width=1180, height=900)
COLORS = 128
MODELS = {"en": "small-en", "ko": "small-ko"}


@contextmanager
def explorer() -> Iterator[str]:
    """The address of a running page."""
    code = "import sys; from elmo.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "explore", "--no-browser", "--port", "0", "--model", *MODELS.values()]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"the page is at (\S+)", line):
                yield found[1]
                return
        raise SystemExit("elmo explore did not start: run it in a terminal to see why")
    finally:
        process.terminate()
        process.wait(60)


def pictures() -> Iterator[tuple[str, str]]:
    """Each picture's name, and the part of the link after `#` that shows it."""
    for language, model in MODELS.items():
        for view in ("neighbors", "map", "compare", "gap", "computation"):
            for theme in ("light", "dark"):
                prefix = "explorer-ko" if language == "ko" else "explorer"
                state = f"model={model}&view={view}&layer=2&theme={theme}&lang={language}"
                yield f"{prefix}-{view}-{theme}", state


def take(page: Page, address: str, state: str, path: Path) -> None:
    """Writes one picture, in 128 colors."""
    page.goto(f"{address}#{state}")
    page.wait_for_selector("#view[data-ready]", timeout=60_000)
    page.wait_for_selector(".progress:empty", state="attached", timeout=300_000)
    if "view=map" in state:
        page.wait_for_timeout(900)  # the points move into place
        page.hover(".point:not(.mark) >> nth=8", force=True)
        page.wait_for_timeout(200)
    page.screenshot(path=path, full_page=True)
    Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)


def main(names: list[str]) -> None:
    """All pictures, or those that are named."""
    with explorer() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, state in pictures():
            if not names or name in names:
                page = browser.new_page(viewport=SIZE)
                take(page, address, state, FOLDER / f"{name}.png")
                page.close()
                print(FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
