"""The answers in JavaScript, run by node, above both engines: what the library computes, but for rounding; refusals."""

import asyncio
import json
import random
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.explorer import answers
from tests.explorer.conftest import TEXT, serving
from tests.explorer.in_node import node, require_equal
from tests.text.first_look.test_plain_text import ORDINARY, OTHER_FORMS

import elmo
from elmo.analysis.neighbors.context_index import unit
from elmo.analysis.neighbors.korean import forms_of
from elmo.analysis.neighbors.occurrence_map import drawn
from elmo.explorer.explored import Explored
from elmo.explorer.texts import ExploredText, bundled_text
from elmo.serve.inputs import read_texts
from elmo.serve.settings import ServeSettings
from elmo.weights.native.write import write

ROOT = Path(elmo.__file__).parent
LOCAL = ROOT / "explorer" / "local"
ASK = Path(__file__).parent / "ask.mjs"
WEIGHTS = [0.2, 0.5, 0.3]
A = {"tokens": ["the", "bank", "was", "steep"], "place": 1}
B = {"tokens": ["money", "in", "the", "bank"], "place": 3}
TEXTS = {
    "small-en": [
        "It's “warm” — isn’t it…",
        "The cafe\u0301 is closed.",
        "[MASK] <pad> the</s> bank",
        "<br>He&amp;she ##ing un@@ â€œbadâ€",
        "<e1>He</e1> saw [the bank](https://a.b) {{of|a}} [[river]] *** START OF THE PROJECT GUTENBERG EBOOK",
        "강가에 있는 은행이 가파르다",
        "Der Fluss war sehr breit und das Wasser floss langsam durch die Stadt, während die Kinder am Ufer "
        "spielten und ihre Eltern auf einer Bank saßen, wo sie über das Wetter und den Krieg sprachen.",
        "Быстрая коричневая лиса прыгает",
        "ＨＥＬＬＯ ＷＯＲＬＤ ＡＢＣ",
        "The ba\u200bnk has in\u034ffor\u00ad \u2063mation, and re\u00ad\n fined \u00ad .",
        "The oﬃce has infor\u00ad\u2060mation on １００\ufe0e km².",
        "𝐇𝐞𝐥𝐥𝐨 𝐰𝐨𝐫𝐥𝐝",
        "々々々々々々々々々",
        "ｶﾀｶﾅｶﾀｶﾅ",
        "ʰʲʷʸʰʲʷʸ",
        "abcde가나다",
        unicodedata.normalize("NFD", "கொடு أَحمد café"),
        "5 \u212b, ব\u09df\u09b8",
        "\u09df\u09b8 \uf914 =\u0338",
        "敏捷的棕色狐狸跳过了懒狗",
        " \n a\nb ",
        # A header's escapes and those of a message can't be told apart.
        *("".join(filter(str.isprintable, text.replace("\n", " "))) * 3 for text in [*OTHER_FORMS.values(), *ORDINARY]),
    ],
    "small-ko": [
        "“밥”을 ‘먹었다’…",
        "\u1112\u1161\u11ab글을 썼다",
        "The river bank was steep and long",
        "ᄇ ᅡ 밥 가",
        "학\u200b교 \u110f\u110f ﾻ",
    ],
}
WRONG = [
    ("neighbors", {"selected": {"tokens": ["a"], "place": 1}}, "place is 1, but the sentence has 1 tokens"),
    ("neighbors", {"selected": {"tokens": [], "place": 0}}, "has 0 tokens, but the page shows 1 to 200"),
    ("neighbors", {"selected": {"tokens": ["a b"], "place": 0}}, "contains a space or a lone surrogate"),
    ("neighbors", {"selected": {"tokens": ["a"] * 201, "place": 0}}, "has 201 tokens, but the page shows 1 to 200"),
    ("neighbors", {"selected": A, "weights": [1, 2]}, "weights must be 3 finite numbers"),
    ("neighbors", {"selected": A, "weights": [0, 0, 0]}, "layer is [0.0, 0.0, 0.0], but weights must be 3"),
    ("neighbors", {"selected": A, "weights": [1e-7, 1e39, 1e16]}, "[1e-07, 1e+39, 1e+16], but weights must be 3"),
    ("similarity", {"a": ["x"], "b": []}, "has 0 tokens"),
    ("similarity", {"a": ["x"], "b": ["y"], "weights": [1]}, "layers has 1 weights, but the model has 3 layers"),
    ("substitutes", {"selected": A}, "tiny has no softmax"),
    ("computation", {"selected": {"tokens": ["a"], "place": 1}}, "place is 1"),
    ("tokens", {"text": "  "}, "has 0 tokens"),
    ("tokens", {"text": "가" * 10_001}, "has 10,001 characters, but the page reads 10,000 at most"),
    ("tokens", {"text": "a" + "\U0001f600" * 10_000}, "has 10,001 characters"),
]

Asked = list[tuple[str, object]]


def function(module: str, name: str, call: str, given: object) -> object:
    """What a function of a module gives for each value: `call` has it as `it`."""
    source = (
        f"import {{ {name} }} from {json.dumps((LOCAL / module).as_uri())}; import {{ readFileSync }} from 'node:fs';"
        f"console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map((it) => {call})))"
    )
    return node(source, given)


class Both:
    """The same models in Python and in node, above the served engine or above WebAssembly."""

    def __init__(self, models: dict[str, Explored], address: str, folder: Path) -> None:
        self.models, self.address, self.folder = models, address, folder

    def expected(self, asked: Asked) -> list[dict]:
        """By the library."""
        return [{"answer": answers.plain(self._answer(route, **request))} for route, request in asked]

    def _answer(self, route: str, model: str, selected=None, noun: str | None = None, **settings) -> object:
        explored = self.models[model]
        if route == "text":
            facts = explored.index().facts
            return {
                "tokens": facts.num_tokens,
                "tokens_in_source": facts.tokens_in_source,
                "sentences": facts.num_sentences,
            }
        if route == "similarity":
            return answers.similarity(explored, settings["a"], settings["b"], settings.get("weights"))
        pairs = [(one["tokens"], one["place"]) for one in (selected if isinstance(selected, list) else [selected])]
        if route == "occurrences":
            return answers.occurrences(explored, pairs, settings["limit"], settings["weights"])
        if route == "substitutes":
            return answers.substitutes(explored, pairs[0], settings["count"])
        return answers.neighbors(explored, pairs[0], settings["count"], settings["weights"], noun)

    def worker(self, asked: Asked, *, engine: str = "served") -> list[dict]:
        given = {
            "local": str(LOCAL),
            "browser": str(ROOT / "browser"),
            "address": f"{self.address}/explorer",
            "engine": engine,
            "models": {name: self._files(name, model) for name, model in self.models.items()},
            "requests": asked,
        }
        return node(ASK, given)

    def _files(self, name: str, model: Explored) -> dict:
        text = self.folder / f"{name}.txt"
        text.write_text("".join(" ".join(it) + "\n" for it in model.index().sentences), encoding="utf-8")
        return {"folder": str(model.folder), "text": str(text)}


def both(models: dict[str, Explored], folder: Path) -> Iterator[Both]:
    with serving(models) as address:
        yield Both(models, address, folder)


@pytest.fixture
def tiny(tiny_checkpoint, tmp_path, monkeypatch) -> Iterator[Both]:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    write(tiny_checkpoint, tmp_path / "tiny")
    text = ExploredText(tmp_path / "text.txt", "text.txt")
    yield from both({"tiny": Explored.load(str(tmp_path / "tiny"), text=text)}, tmp_path)


@pytest.fixture
def others(tiny_checkpoint, golden_folder, tmp_path, monkeypatch) -> Iterator[Both]:
    """Models that WebAssembly doesn't compute: of one direction, and with words and a dictionary of characters."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    tensors = {name: it for name, it in tiny_checkpoint.tensors.items() if not name.startswith("backward")}
    write(
        replace(tiny_checkpoint, config=replace(tiny_checkpoint.config, direction="forward"), tensors=tensors),
        tmp_path / "one",
    )
    folders = {"one": tmp_path / "one", "efml_word_and_char": golden_folder / "efml_word_and_char"}
    text = ExploredText(tmp_path / "text.txt", "text.txt")
    yield from both({name: Explored.load(str(it), text=text) for name, it in folders.items()}, tmp_path)


@pytest.fixture(scope="session")
def bundled(models, tmp_path_factory) -> Iterator[Both]:
    yield from both(models, tmp_path_factory.mktemp("bundled"))


def distances(points: list[list[float]]) -> np.ndarray:
    array = np.array(points)
    return np.linalg.norm(array[:, None] - array[None], axis=-1)


def require_equal_answer(route: str, expected: dict, found: dict) -> None:
    if route == "occurrences" and "answer" in expected:
        for layer, (one, other) in enumerate(zip(expected["answer"]["layers"], found["answer"]["layers"], strict=True)):
            np.testing.assert_allclose(distances(other.pop("points")), distances(one.pop("points")), atol=5e-4)
            kept, its_kept = one.pop("kept"), other.pop("kept")
            if layer > 0:  # in layer 0 a word's uses are one point, and rounding decides which of them are the nearest
                assert its_kept == pytest.approx(kept, abs=0.05)
    require_equal(found, expected, route, abs=1.01e-4)


def asked_of(model: str, *weights: list[float] | None) -> Asked:
    asked: Asked = [("text", {"model": model})]
    for mix in weights:
        near = {"model": model, "weights": mix, "noun": None}
        asked += [("neighbors", {**near, "selected": one, "count": 3}) for one in (A, B)]
        asked += [("neighbors", {**near, "selected": A, "noun": "ba", "count": 6})]
        both_of = {"model": model, "selected": [A, B], "weights": mix}
        asked += [("occurrences", {**both_of, "limit": limit}) for limit in (300, 3)]
        asked += [("similarity", {"model": model, "a": A["tokens"], "b": B["tokens"], "weights": mix})]
    return asked


@pytest.mark.parametrize("engine", ["served", "wasm"])
def test_a_small_model_gives_the_librarys_answers(tiny, engine):
    asked = asked_of("tiny", None, WEIGHTS, [-0.5, 0.0, 1.0])
    for (route, _), expected, found in zip(asked, tiny.expected(asked), tiny.worker(asked, engine=engine), strict=True):
        require_equal_answer(route, expected, found)


def test_so_do_models_of_one_direction_and_with_words_by_the_served_engine(others):
    asked = [one for name in others.models for one in asked_of(name, None, WEIGHTS)]
    for (route, _), expected, found in zip(asked, others.expected(asked), others.worker(asked), strict=True):
        require_equal_answer(route, expected, found)


def test_what_makes_no_sense_is_refused_with_a_next_step(tiny):
    asked = [(route, {"model": "tiny", **request}) for route, request, _ in WRONG]
    for (route, request, message), found in zip(WRONG, tiny.worker(asked), strict=True):
        assert set(found) == {"error"} and message in found["error"], (route, request, found)


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_typed_texts_have_the_tokens_and_warnings_that_the_server_gives(bundled, model):
    asked: Asked = [("tokens", {"text": text, "model": model}) for text in TEXTS[model]]
    served, warned = bundled.models[model].model, 0
    for text, found in zip(TEXTS[model], bundled.worker(asked), strict=True):
        texts = asyncio.run(read_texts({"text": text}, "auto", served, ServeSettings()))
        if len(texts.sentences[0]) > 200:
            assert "but the page shows 1 to 200" in found["error"]
            continue
        assert found.get("answer") == texts.sentences[0], text[:80]
        assert found.get("warning") == ("; ".join(texts.warnings) or None), text[:80]
        warned += "warning" in found
    assert warned > len(asked) / 3


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["served", "wasm"])
def test_every_example_has_the_librarys_answers(bundled, engine):
    asked: Asked = []
    for name, model in bundled.models.items():
        asked.append(("text", {"model": name}))
        for example in model.info().examples:
            pair = [{"tokens": list(t), "place": p} for t, p in zip(example.sentences, example.places, strict=True)]
            for one in pair:
                request = {"model": name, "selected": one}
                asked.append(("substitutes", {**request, "count": 10}))
                near = {**request, "count": 6, "weights": None, "noun": None}
                asked += [("neighbors", {**near, "noun": example.noun}), ("neighbors", {**near, "count": 20})]
                asked.append(("neighbors", {**near, "weights": WEIGHTS}))
            for weights in (None, WEIGHTS):
                request = {"model": name, "selected": pair, "weights": weights}
                asked += [("occurrences", {**request, "limit": limit}) for limit in (300, 20)]
                a, b = (one["tokens"] for one in pair)
                asked.append(("similarity", {"model": name, "a": a, "b": b, "weights": weights}))
    found_by = zip(asked, bundled.expected(asked), bundled.worker(asked, engine=engine), strict=True)
    for (route, request), expected, found in found_by:
        if route == "neighbors":
            in_order(expected["answer"], found["answer"], request)
        if route == "occurrences":
            as_near(bundled.models[request["model"]], request, expected["answer"], found["answer"])
        require_equal_answer(route, expected, found)


def in_order(expected: dict, found: dict, request: object) -> None:
    """Requires the same order wherever two neighbors differ by more than 2e-4, and then takes the rest as equal."""
    for one, other in zip(expected["layers"], found["layers"], strict=True):
        for which in ("other", "same"):
            before, after = one[which], other[which]
            if [near["tokens"] for near in before] == [near["tokens"] for near in after]:
                continue
            assert len(before) == len(after), request
            for near, its in zip(before, after, strict=True):
                assert abs(near["cosine"] - its["cosine"]) <= 2e-4, request
            other[which] = before


def as_near(model: Explored, request: dict, expected: dict, found: dict) -> None:
    """Requires equal cosines wherever two points changed places among the nearest, and then takes these as equal.

    Equal within 2e-3: an index rounds unit vectors to float16, each by at most 2^-11 of its length.
    """
    embedder = model.model.embedder
    edge = 1 if embedder.keep_boundaries else 0
    for layer, (one, other) in enumerate(zip(expected["layers"], found["layers"], strict=True)):
        if one["nearest"] == other["nearest"]:
            continue
        chosen = layer if layer < 3 else request["weights"]
        arrays = embedder.embed([point["tokens"] for point in expected["points"]], layers=chosen)
        of_points = zip(arrays, expected["points"], strict=True)
        vectors = unit(np.stack([array[point["position"] + edge] for array, point in of_points]))
        cosines = vectors @ vectors.T
        for place, (before, after) in enumerate(zip(one["nearest"], other["nearest"], strict=True)):
            np.testing.assert_allclose(cosines[place, before], cosines[place, after], atol=2e-3, err_msg=str(request))
        other["nearest"] = one["nearest"]


SO_FAR = """
const vector = (word) => Float32Array.from([1, 2], (k) => k + Number(word));
const embed = (sentences) => sentences.map(([word]) => ({ tokens: 1, data: vector(word) }));
const index = new TextIndex("1\\n2\\n3\\n4\\n", 1, 2, embed);
const asked = { count: 9, words: ["1"], which: "other", notSentence: "" };
const words = () => index.search(index.cosines(new Float32Array([1, 1]), 0), asked).map((hit) => hit.tokens[0]);
await index.fill([1, 2]);
const found = [index.share, words()];
await index.fill();
console.log(JSON.stringify([...found, index.share, words()]));
"""


def test_a_search_finds_what_was_read_so_far():
    """The larger a word, the nearer its vector is to that of the query."""
    source = f"import {{ TextIndex }} from {json.dumps((LOCAL / 'text_index.js').as_uri())};{SO_FAR}"
    assert node(source, None) == [0.5, ["3", "2"], 1, ["4", "3", "2"]]


def test_a_sample_is_the_one_that_python_draws():
    sizes = [(1, 1), (10, 3), (1000, 300), (5000, 20)]
    found = function("text_index.js", "drawn", "drawn(...it)", sizes)
    assert found == [drawn(size, count, 0).tolist() for size, count in sizes]


def test_half_precision_is_numpys():
    draw = np.random.default_rng(0)
    values = (draw.standard_normal(20_000) * 10.0 ** draw.integers(-9, 1, 20_000)).clip(-1, 1).astype(np.float32)
    values = np.concatenate([values, np.float32([0, 1, -1, 6e-8, 2.98e-8, 6.1e-5, 2**-14, 2**-24, 2**-25, -(2**-25)])])
    found = function("text_index.js", "halfOf", "halfOf(it)", values.tolist())
    assert found == values.astype(np.float16).view(np.uint16).tolist()


def test_a_noun_has_the_forms_that_it_has_in_python():
    words = sorted(set(bundled_text("ko").path.read_text(encoding="utf-8").split()))
    nouns = [word[: 1 + place % 3] for place, word in enumerate(random.Random(0).sample(words, 150))]
    found = function("korean.js", "formsOf", "formsOf(...it)", [[noun, words] for noun in nouns])
    assert found == [forms_of(noun, words) for noun in nouns]
