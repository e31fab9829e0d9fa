"""The pictures of docs/explorer.md: every view of the page, light and dark, English and Korean, from a real Chromium.

    elmo explore --no-browser --port 8765 &
    python runs/explorer_pictures.py http://127.0.0.1:8765/explorer docs/images [NAME ...]

Needs playwright (in `pyelmo[dev]`) and the system's Chromium with fonts for Hangul (apt-get install chromium
fonts-noto-cjk). Names are those of the files, without `.png`; default: all sixteen.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SIZE = {"width": 1180, "height": 900}
COLORS = 128


def pictures() -> Iterator[tuple[str, str]]:
    """Each picture's name, and the part of the link after `#` that shows it."""
    for language, model in ("en", "small-en"), ("ko", "small-ko"):
        for view in ("neighbors", "map", "compare", "gap"):
            for theme in ("light", "dark"):
                prefix = "explorer-ko" if language == "ko" else "explorer"
                state = f"model={model}&view={view}&layer=2&theme={theme}&lang={language}"
                yield f"{prefix}-{view}-{theme}", state


def take(page: Page, address: str, state: str, path: Path) -> None:
    """Writes one picture, in 128 colors."""
    page.goto(f"{address}#{state}")
    page.wait_for_selector("#view[data-ready]", timeout=60_000)
    if "view=map" in state:
        page.wait_for_timeout(900)  # the points move into place
        page.hover(".point:not(.mark) >> nth=8", force=True)
        page.wait_for_timeout(200)
    page.screenshot(path=path, full_page=True)
    Image.open(path).convert("RGB").quantize(COLORS).save(path, optimize=True)


def main(address: str, folder: Path, names: list[str]) -> None:
    """All pictures, or those that are named."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, state in pictures():
            if not names or name in names:
                page = browser.new_page(viewport=SIZE)
                take(page, address, state, folder / f"{name}.png")
                page.close()
                print(folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
