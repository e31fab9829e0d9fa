"""The routes in JavaScript, run by node: the same JSON as the server's but for rounding, and the same refusals."""

import json
import random
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.explorer.conftest import TEXT
from tests.explorer.in_node import node, require_equal, require_equal_steps
from tests.text.first_look.test_plain_text import ORDINARY, OTHER_FORMS

import elmo
from elmo.analysis.measures import unit
from elmo.analysis.neighbors.korean import forms_of
from elmo.analysis.neighbors.occurrence_map import drawn
from elmo.explorer import frozen
from elmo.explorer.explored import Explored
from elmo.explorer.routes import Page
from elmo.explorer.texts import ExploredText, bundled_text
from elmo.serve.app import create_app
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
        "17. Rain fell\n" * 9,
        "Rain fell\tpositive\n" * 9,
        "The/DT rain/NN fell/VBD on/IN the/DT town/NN ./.",
        "the_at rain_nn fell_vbd on_in the_at town_nn",
        "비/NNG+가/JKS 오/VV+ㄴ다/EC 그리고/MAJ 바람/NNG+이/JKS 불/VV+ㄴ다/EC ./SF",
        "B-PER I-PER O O O B-LOC O",
        "and/or he/she him/her his/hers we went",
        "( (S (NP (NNP Anna) ) (VP (VBD left) ) (. .) ))",
        "['Rain', 'fell']",
        "  [앤] [오후 3:21] 비가 왔다.",
        "4/30/23, 3:21 PM - Ann: rain fell",
        "",
        "x " * 201,
        "y" * 12_000,
    ],
    "small-ko": ["“밥”을 ‘먹었다’…", "\u1112\u1161\u11ab글을 썼다", "The river bank was steep and long", "ᄇ ᅡ 밥 가"],
}
WRONG = [
    ("neighbors", {"model": "tiny", "selected": {"tokens": ["a"], "place": 1}}),
    ("neighbors", {"model": "tiny", "selected": {"tokens": [], "place": 0}}),
    ("neighbors", {"model": "tiny", "selected": {"tokens": ["a b"], "place": 0}}),
    ("neighbors", {"model": "tiny", "selected": {"tokens": ["a"] * 201, "place": 0}}),
    ("neighbors", {"model": "tiny", "selected": A, "weights": [1, 2]}),
    ("neighbors", {"model": "tiny", "selected": A, "weights": [0, 0, 0]}),
    ("neighbors", {"model": "tiny", "selected": A, "weights": [1e-7, 1e39, 1e16]}),
    ("similarity", {"model": "tiny", "a": ["x"], "b": []}),
    ("similarity", {"model": "tiny", "a": ["x"], "b": ["y"], "weights": [1]}),
    ("similarity", {"model": "tiny", "a": ["x"], "b": ["y"], "weights": [1, 1e31, 0]}),
    ("substitutes", {"model": "tiny", "selected": A}),
    ("computation", {"model": "tiny", "selected": {"tokens": ["a"], "place": 1}}),
    ("tokens", {"text": "  ", "model": "tiny"}),
    ("tokens", {"text": "가" * 10_001, "model": "tiny"}),
    ("tokens", {"text": "a" + "\U0001f600" * 10_000, "model": "tiny"}),
]

Asked = list[tuple[str, object]]


def function(module: str, name: str, call: str, given: object) -> object:
    """What a function of a module gives for each value: `call` has it as `it`."""
    source = (
        f"import {{ {name} }} from {json.dumps((LOCAL / module).as_uri())}; import {{ readFileSync }} from 'node:fs';"
        f"console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map((it) => {call})))"
    )
    return node(source, given)


def unquoted(header: str) -> str:
    """The text of a Warning header: a quoted string, with what isn't ASCII written as Python does."""
    text = re.sub(r"\\(.)", r"\1", header.partition('"')[2][:-1])
    return re.sub(r"\\(?:x(..)|u(.{4})|U(.{8}))", lambda it: chr(int(it[1] or it[2] or it[3], 16)), text)


class Both:
    """The same models in Python and in node."""

    def __init__(self, models: dict[str, Explored], client: TestClient, folder: Path) -> None:
        self.models, self.client, self.folder = models, client, folder

    def server(self, asked: Asked) -> list[dict]:
        found = []
        for route, request in asked:
            body = json.dumps(request).encode()
            answer = self.client.post(
                f"/explorer/api/{route}", content=body, headers={"Content-Type": "application/json"}
            )
            told = answer.headers.get("Warning")
            value = (
                {"answer": answer.json()} if answer.status_code == 200 else {"error": answer.json()["error"]["message"]}
            )
            found.append(value | ({"warning": unquoted(told)} if told else {}))
        return found

    def worker(self, asked: Asked, *, make_index: bool = False) -> list[dict]:
        given = {
            "local": str(LOCAL),
            "browser": str(ROOT / "browser"),
            "info": json.loads(msgspec.json.encode(frozen.info(self.models))),
            "mixes": [],
            "models": {name: self._files(name, model, make_index) for name, model in self.models.items()},
            "requests": asked,
        }
        return node(ASK, given)

    def _files(self, name: str, model: Explored, make_index: bool) -> dict:
        index = model.index()
        text, record = self.folder / f"{name}.txt", self.folder / f"{name}.index"
        text.write_text("".join(" ".join(sentence) + "\n" for sentence in index.sentences), encoding="utf-8")
        arrays = ["lengths", *(f"layer-{layer}" for layer in range(index.num_layers))]
        record.write_bytes(b"".join(np.load(index.folder / f"{array}.npy").tobytes() for array in arrays))
        facts = {"folder": str(model.folder), "text": str(text), "tokens_in_source": index.facts.tokens_in_source}
        return facts | ({} if make_index else {"record": str(record)})


def both(models: dict[str, Explored], folder: Path) -> Iterator[Both]:
    app = create_app([model.model for model in models.values()], extra_routes=Page(models).routes())
    with TestClient(app, base_url="http://localhost") as client:
        yield Both(models, client, folder)


@pytest.fixture
def tiny(tiny_checkpoint, tmp_path, monkeypatch) -> Iterator[Both]:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    write(tiny_checkpoint, tmp_path / "tiny")
    text = ExploredText(tmp_path / "text.txt", "text.txt")
    yield from both({"tiny": Explored.load(str(tmp_path / "tiny"), text=text)}, tmp_path)


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
    if route == "computation":
        require_equal_steps(found.pop("answer"), expected.pop("answer"))
    require_equal(found, expected, route, abs=1.01e-4)


def test_a_small_model_gives_the_servers_answers(tiny):
    asked: Asked = [("text", {"model": "tiny"})]
    for weights in (None, WEIGHTS, [-0.5, 0.0, 1.0]):
        asked += [("neighbors", {"model": "tiny", "selected": one, "count": 3, "weights": weights}) for one in (A, B)]
        asked += [
            ("neighbors", {"model": "tiny", "selected": A, "noun": "ba", "weights": weights, "count": 6}),
            ("occurrences", {"model": "tiny", "selected": [A, B], "weights": weights, "limit": 300}),
            ("occurrences", {"model": "tiny", "selected": [A, B], "weights": weights, "limit": 3}),
            ("similarity", {"model": "tiny", "a": A["tokens"], "b": B["tokens"], "weights": weights}),
        ]
    for (route, _), expected, found in zip(asked, tiny.server(asked), tiny.worker(asked, make_index=True), strict=True):
        require_equal_answer(route, expected, found)


def test_what_makes_no_sense_is_refused_in_the_servers_words(tiny):
    for (route, request), expected, found in zip(WRONG, tiny.server(WRONG), tiny.worker(WRONG), strict=True):
        assert found == expected, (route, request)
        assert set(expected) == {"error"}


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_typed_texts_have_the_servers_tokens_and_warnings(bundled, model):
    asked: Asked = [("tokens", {"text": text, "model": model}) for text in TEXTS[model]]
    warned = 0
    for (_, request), expected, found in zip(asked, bundled.server(asked), bundled.worker(asked), strict=True):
        assert found == expected, request["text"][:80]
        warned += "warning" in expected
    assert warned > len(asked) / 3


@pytest.mark.slow
@pytest.mark.parametrize("make_index", [False, True])
def test_every_example_has_the_servers_answers(bundled, make_index):
    """With the index that Python made, and with one that is made here."""
    asked: Asked = []
    for name, model in bundled.models.items():
        asked.append(("text", {"model": name}))
        for example in model.info().examples:
            pair = [{"tokens": list(t), "place": p} for t, p in zip(example.sentences, example.places, strict=True)]
            for one in pair:
                request = {"model": name, "selected": one}
                asked += [("substitutes", {**request, "count": 10}), ("computation", request)]
                near = {**request, "count": 6, "weights": None, "noun": None}
                asked += [("neighbors", {**near, "noun": example.noun}), ("neighbors", {**near, "count": 20})]
                asked.append(("neighbors", {**near, "weights": WEIGHTS}))
            for weights in (None, WEIGHTS):
                request = {"model": name, "selected": pair, "weights": weights}
                asked += [("occurrences", {**request, "limit": limit}) for limit in (300, 20)]
                a, b = (one["tokens"] for one in pair)
                asked.append(("similarity", {"model": name, "a": a, "b": b, "weights": weights}))
    answers = zip(asked, bundled.server(asked), bundled.worker(asked, make_index=make_index), strict=True)
    for (route, request), expected, found in answers:
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
