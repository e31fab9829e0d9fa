"""elmo.js in a real browser, under a strict policy, in a page and in a worker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.in_node import PACKAGE
from tests.browser.served import Quiet, served
from tests.browser.test_vectors import NEAR

from elmo.embed.embedder import Embedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'"
SENTENCES = {"en": ["He", "sat", "by", "the", "bank", "."], "ko": ["은행에", "가서", "돈을", "찾았다", "."]}
WORKER = """
import { load } from "/browser/elmo.js";
onmessage = async ({ data: { where, tokens } }) => {
  const elmo = await load(where);
  const { data } = elmo.embed(tokens);
  postMessage({ data: Array.from(data), best: (await elmo.substitutes(tokens, 1, 2)).both.best });
};
"""
IN_PAGE = """async ([where, tokens]) => {
  const { load } = await import("/browser/elmo.js");
  const seen = [];
  const elmo = await load(where, { onProgress: ({ file, loaded, total }) => seen.push([file, loaded / total]) });
  const { data } = elmo.embed(tokens);
  return { data: Array.from(data), best: (await elmo.substitutes(tokens, 1, 2)).both.best, seen };
}"""
IN_WORKER = """([where, tokens]) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage({ where: new URL(where, location.href).href, tokens });
})"""


class Host(Quiet):
    """The package's files, a page and a worker."""

    def do_GET(self) -> None:
        made = {"/": (b"<!doctype html><title>elmo.js</title>", "text/html"), "/worker.js": (WORKER.encode(), None)}
        if self.path not in made:
            return super().do_GET()
        content, kind = made[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind or "text/javascript")
        self.end_headers()
        self.wfile.write(content)
        return None

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()


@pytest.fixture
def page(browser) -> Iterator[Any]:
    """An empty page whose console must stay empty."""
    with served(PACKAGE, Host) as address:
        opened = browser.new_page()
        problems: list[str] = []
        opened.on("console", lambda it: problems.append(it.text))
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.goto(f"{address}/")
        yield opened
        opened.close()
    assert [one for one in problems if "favicon" not in one] == []


@pytest.mark.parametrize("program", [IN_PAGE, IN_WORKER], ids=["page", "worker"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_browser_has_the_vectors_of_python(language, program, page):
    model, tokens = f"small-{language}", SENTENCES[language]
    found = page.evaluate(program, [f"/bundled/{model}", tokens])
    (expected,) = Embedder.from_pretrained(Path(PACKAGE, "bundled", model), device="cpu").embed([tokens])
    assert np.abs(np.reshape(found["data"], expected.shape) - expected).max() <= NEAR
    assert len(found["best"]) == 2
    assert all(part <= 1 for _, part in found.get("seen", []))
