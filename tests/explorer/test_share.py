"""What the page saves, links and shows as code, for sentences that are long or odd."""

import json

from tests.explorer.in_node import node
from tests.explorer.test_page_files import FOLDER

from elmo.text.tokenizer import tokenizer

PROGRAM = """
import { codeOf, pageWithAnswers } from "%s/share.js";
import { readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(0, "utf8"));
const model = { name: "small-en", text: {}, has_softmax: true, has_computation: true };
const page = { querySelectorAll: () => [], querySelector: () => ({ replaceChildren() {} }), outerHTML: "" };
globalThis.document = { documentElement: { cloneNode: () => page } };
const settings = { model: "small-en", view: "gap", layer: "1", weights: [], a: 0, b: 1, noun: "", follow: 0 };
const found = [];
for (const sentences of given) {
  const asked = [];
  const ask = async (route, request) => (asked.push([route, request?.selected?.place ?? null]), {});
  const state = { ...settings, sentences };
  await pageWithAnswers({ ask }, state, { models: [model], examples: [] });
  found.push({ asked, code: codeOf(state, model) });
}
console.log(JSON.stringify(found));
"""


def shared(*sentences: tuple[list[str], int]) -> list[dict]:
    given = [[{"tokens": tokens, "place": place}] * 2 for tokens, place in sentences]
    return node(PROGRAM % FOLDER.as_uri(), given)


def test_a_saved_page_has_the_selected_token_and_its_neighbors_wherever_it_stands():
    short, long = shared((["a", "b"], 1), ([str(number) for number in range(60)], 50))
    for found, places in ((short, {0, 1}), (long, {*range(40), 49, 50, 51})):
        for route in ("neighbors", "substitutes"):
            assert {place for name, place in found["asked"] if name == route} == places


def test_code_has_a_command_only_if_it_marks_the_same_place():
    plain, shout, bracket = shared((["it", "'s", "so"], 1), (["Yahoo!x", "$a", "isn't"], 0), (["a", "[", "b"], 2))
    assert plain["code"]["command"].splitlines()[0] == 'elmo substitutes small-en "it [\'s] so"'
    assert shout["code"]["command"].splitlines()[0] == r"""elmo substitutes small-en '[Yahoo!x] $a isn'\''t'"""
    assert bracket["code"]["command"] == "" and json.dumps(["a", "[", "b"]) in bracket["code"]["python"].replace(
        ",", ", "
    )


def test_a_link_keeps_the_tokens_that_the_tokenizer_gives():
    program = """
    import { fromFragment, toFragment } from "%s/state.js";
    import { readFileSync } from "node:fs";
    globalThis.navigator ??= { language: "en" };
    const tokens = JSON.parse(readFileSync(0, "utf8")), model = { name: "small-en", layers: 3, examples: [] };
    const state = { ...fromFragment("", { models: [model] }), sentences: [{ tokens, place: tokens.length - 1 }] };
    console.log(JSON.stringify(fromFragment(toFragment(state), { models: [model] }).sentences[0]));
    """
    tokens = tokenizer("auto")("a\ufeffb , \u200bc\u2060 + %26 = d|e .")  # whose marks show that they are apart
    assert node(program % FOLDER.as_uri(), tokens) == {"tokens": tokens, "place": len(tokens) - 1}
    assert "a\ufeffb" in tokens
