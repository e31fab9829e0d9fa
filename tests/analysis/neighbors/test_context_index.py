"""ContextIndex: exact neighbors, files that are checked before they are believed, any number of threads."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from elmo.analysis.neighbors import context_index, index_files
from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.analysis.neighbors.occurrence_map import occurrence_map
from elmo.analysis.neighbors.query import neighbors, require_forms, require_model, static_neighbors
from elmo.disk.bounded import file_hash
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, ElmoError, OutputError, TextError
from elmo.static.vectors import StaticVectors

WORDS = ["the", "bank", "of", "river", "money", "밥", "was", "steep"]


def sentences(count: int = 60) -> list[list[str]]:
    random = np.random.default_rng(5)
    return [[WORDS[place] for place in random.integers(len(WORDS), size=random.integers(1, 9))] for _ in range(count)]


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch) -> None:
    monkeypatch.setattr(context_index, "_CHUNK_ROWS", 7)


@pytest.fixture
def embedder(tiny_bilm) -> Embedder:
    return Embedder(tiny_bilm)


def test_building_reports_what_is_read_and_embedded(embedder, tmp_path, recorded_progress):
    build_index([[], *sentences()], embedder, tmp_path / "index", progress=recorded_progress)
    recorded_progress.require_stages(reading="sentences", embedding="sentences")


@pytest.fixture
def folder(embedder, tmp_path) -> Path:
    build_index([[], *sentences()], embedder, tmp_path / "index", model="tiny", source="text.txt")
    return tmp_path / "index"


def plain_search(vectors, vector, layer, word, which, own):
    """The allowed tokens of every sentence, one at a time: {(sentence, place): cosine}. vectors: each sentence's."""
    found = {}
    for number, (tokens, layers) in enumerate(zip(sentences(), vectors, strict=True)):
        for place, token in enumerate(tokens):
            if tuple(tokens) != own and (which == "any" or (token == word) == (which == "same")):
                stored = (layers[layer, place] / np.linalg.norm(layers[layer, place])).astype(np.float16)
                found[number, place] = float(stored.astype(np.float32) @ vector / np.linalg.norm(vector))
    return found


def test_of_equal_cosines_the_first_tokens_of_the_text_are_found(embedder, tmp_path):
    """Of one word in layer 0 all are equal, many more than are looked at first."""
    build_index([["river", "bank", f"no{number}"] for number in range(300)], embedder, tmp_path / "index")
    index = ContextIndex(tmp_path / "index")
    (vectors,) = embedder.embed([["bank"]])
    for which in ("same", "any"):
        hits = index.search(vectors[0, 0], 0, count=3, word="bank", which=which)
        assert [(hit.sentence, hit.position) for hit in hits] == [(0, 1), (1, 1), (2, 1)]


@pytest.mark.parametrize("memory", [0, 1 << 29])
def test_neighbors_equal_a_plain_search(folder, embedder, memory, monkeypatch):
    monkeypatch.setattr(context_index, "MEMORY_BYTES", memory)
    vectors = [embedder.embed([tokens])[0] for tokens in sentences()]
    for layer in (0, 1, *np.arange(2, 3)):  # numpy's integers are layers too
        for which in ("any", "same", "other"):
            check_search(ContextIndex(folder), vectors, layer, which)


@pytest.mark.parametrize("count", [0, -3, 2.5])
def test_fewer_than_one_neighbor_is_refused(folder, embedder, count):
    index, static = ContextIndex(folder), StaticVectors(("a", "b"), np.eye(2, dtype=np.float32))
    with pytest.raises(ConfigError, match=rf"count must be .* \(got {count}\)"):
        neighbors(index, embedder, ["the", "bank"], 1, count)
    with pytest.raises(ConfigError, match=rf"count must be .* \(got {count}\)"):
        static_neighbors(static, "a", count)


def check_search(index, vectors, layer, which):
    query, vector = sentences()[7], vectors[7][layer, 0]
    hits = index.search(vector, layer, count=5, word=query[0], which=which, not_sentence=tuple(query))
    expected = plain_search(vectors, vector, layer, query[0], which, tuple(query))
    assert 0 < len(hits) <= 5
    for hit in hits:
        assert hit.cosine == pytest.approx(expected[hit.sentence, hit.position], abs=1e-5)
    cosines = [hit.cosine for hit in hits]
    assert cosines == sorted(cosines, reverse=True) and len({hit.tokens for hit in hits}) == len(hits)
    # Whatever is nearer than the last hit stands in a sentence, or for "other" is a word, that a hit has already.
    words, texts = {hit.word for hit in hits}, {hit.tokens for hit in hits}
    for (number, place), cosine in expected.items():
        if cosine > cosines[-1] + 1e-5:
            tokens = tuple(sentences()[number])
            assert tokens in texts or (which == "other" and tokens[place] in words)


def _as_stored(layers: np.ndarray) -> np.ndarray:
    """Directions in half precision: without what all vectors share, their rounding would be seen."""
    lengths = np.linalg.norm(layers, axis=-1, keepdims=True)
    return (layers / lengths).astype(np.float16).astype(np.float32) * lengths


@pytest.mark.parametrize("which", ["any", "same", "other"])
@pytest.mark.parametrize("layer", [0, 2, [0.5, 0.2, 1.5]])
def test_centered_neighbors_equal_a_plain_search(folder, embedder, layer, which):
    weights = np.eye(3)[layer] if isinstance(layer, int) else np.array(layer)
    text, query = sentences(), sentences()[7]
    mixed = [np.tensordot(weights, _as_stored(layers), 1) for layers in embedder.embed(text)]
    mean = np.concatenate(mixed).mean(axis=0)
    vector = mixed[7][0]
    expected = {}
    for number, (tokens, vectors) in enumerate(zip(text, mixed, strict=True)):
        for place, one in enumerate(vectors):
            if tokens != query and (which == "any" or (tokens[place] == query[0]) == (which == "same")):
                lengths = np.linalg.norm(one - mean) * np.linalg.norm(vector - mean)
                expected[number, place] = float((one - mean) @ (vector - mean) / lengths)
    index = ContextIndex(folder)
    hits = index.search(vector, layer, count=5, word=query[0], which=which, not_sentence=tuple(query), center=True)
    assert np.allclose(index.mean(layer), mean, atol=1e-3)
    for hit in hits:
        assert hit.cosine == pytest.approx(expected[hit.sentence, hit.position], abs=1e-3)
    assert hits[0].cosine == pytest.approx(max(expected.values()), abs=1e-3)
    plain = index.search(vector, layer, count=5, word=query[0], which=which, not_sentence=tuple(query))
    assert [hit.cosine for hit in plain] != [hit.cosine for hit in hits]


def test_a_search_for_more_than_there_is_gives_all(folder, embedder):
    index = ContextIndex(folder)
    hits = index.search(np.ones(index.dim), 1, count=1000)
    assert len({hit.tokens for hit in hits}) == len(hits) == len({tuple(sentence) for sentence in sentences()})
    assert index.search(np.ones(index.dim), 1, count=3, word="unknown", which="same") == []


def test_places_and_occurrences_lead_back_to_the_text(folder):
    index = ContextIndex(folder)
    text = [token for sentence in sentences() for token in sentence]
    assert len(index) == len(text) and index.facts.model == "tiny"
    for token in index.occurrences("bank"):
        sentence, position = index.place(int(token))
        assert index.sentences[sentence][position] == "bank"
    assert len(index.occurrences("bank")) == text.count("bank") and len(index.occurrences("no")) == 0


def test_many_threads_find_what_one_finds(folder, embedder):
    queries = np.random.default_rng(1).normal(size=(64, embedder.layer_dim)).astype(np.float32)
    expected = [ContextIndex(folder).search(query, 2, count=4) for query in queries]
    index = ContextIndex(folder)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda query: index.search(query, 2, count=4), queries)) == expected


def test_a_part_of_a_text_is_its_first_sentences_or_a_sample(embedder, tmp_path):
    first = build_index(sentences(), embedder, tmp_path / "first", max_tokens=40)
    assert 32 <= first.num_tokens <= 40 and first.tokens_in_source == sum(map(len, sentences()))
    assert ContextIndex(tmp_path / "first").sentences == [tuple(one) for one in sentences()[: first.num_sentences]]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        build_index(sentences(), embedder, tmp_path / name, max_tokens=40, sample=True, seed=seed)
    a, b, c = (ContextIndex(tmp_path / name).sentences for name in "abc")
    assert a == b != c and a != ContextIndex(tmp_path / "first").sentences
    for seed in range(4):  # a sentence that is too long ends no sample
        build_index(
            [["a"]] * 4 + [["b"] * 9], embedder, tmp_path / "s", max_tokens=4, sample=True, seed=seed, force=True
        )
        assert ContextIndex(tmp_path / "s").sentences == [("a",)] * 4


@pytest.mark.parametrize(
    ("text", "settings", "error", "message"),
    [
        ([[]], {}, TextError, "has no tokens"),
        ([["a"] * 9], {"max_tokens": 5}, TextError, "begins with a sentence of more than 5 tokens"),
        *(
            (
                [["a"], ["a", word]],
                {},
                TextError,
                f"sentence 2: the token {re.escape(repr(word))} is empty, has a space",
            )
            for word in ("", "a b", "b\xa0c", "b\u2028c")
        ),
        ([["a"], ["b\ud800"]], {}, TextError, "sentence 2: the token .*half a character"),
        ([["a"]], {"max_tokens": 10**9}, ConfigError, "max_tokens must be a whole number from 1"),
        ([["a"]], {"max_tokens": 0}, ConfigError, "max_tokens must be a whole number from 1"),
    ],
)
def test_what_can_not_be_indexed_is_told_and_leaves_nothing(embedder, tmp_path, text, settings, error, message):
    with pytest.raises(error, match=message):
        build_index(text, embedder, tmp_path / "index", **settings)
    assert list(tmp_path.iterdir()) == []


def test_an_index_is_replaced_only_if_asked(folder, embedder):
    with pytest.raises(OutputError, match="exists"):
        build_index([["a"]], embedder, folder)
    build_index([["a"]], embedder, folder, force=True)
    assert ContextIndex(folder).sentences == [("a",)]


def test_a_model_whose_vectors_are_not_finite_is_told_and_leaves_nothing(tiny_bilm, tmp_path):
    tiny_bilm.token_encoder.projection.bias.data[0] = np.nan
    with pytest.raises(ConfigError, match="the model's vectors of 'the bank' are not finite numbers"):
        build_index([["the", "bank"]], Embedder(tiny_bilm), tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("weight", [1e38, 1e-25])
def test_weights_whose_squares_float32_can_not_hold_are_refused(folder, weight):
    index = ContextIndex(folder)
    for center in (False, True):
        with pytest.raises(ConfigError, match="3 finite numbers.* the largest between 1e-9 and 1e9"):
            index.search(np.ones(index.dim), [weight] * index.num_layers, center=center)


def test_cosines_that_are_no_numbers_are_never_given():
    cosines = np.array([np.nan, 0.5, np.nan, 1, 0], dtype=np.float32)
    for first in (1, 3, 40):
        assert list(context_index._descending(cosines, first)) == [3, 1, 4]


def test_another_model_and_wrong_vectors_are_refused(folder, embedder, tiny_bilm):
    index = ContextIndex(folder)
    with pytest.raises(ConfigError, match="which must be"):
        index.search(np.ones(16), 1, which="sam", word="the")
    require_model(index, embedder)
    with pytest.raises(ConfigError, match=r"vector must be of 16 finite numbers"):
        index.search(np.ones(3), 1)
    with pytest.raises(ConfigError, match="vector must be of 16 finite"):
        index.search(np.full(index.dim, np.nan), 1)
    for center in (False, True):
        with pytest.raises(ConfigError, match="layer must be a whole number from -3 to 2 .got 3"):
            index.search(np.ones(index.dim), 3, center=center)
    tiny_bilm.token_encoder.projection.bias.data += 1
    with pytest.raises(ConfigError, match="was built with tiny"):
        require_model(index, Embedder(tiny_bilm))


def change(path: Path, kind: str) -> None:
    data = bytearray(path.read_bytes())
    if kind == "remove":
        path.unlink()
    elif kind == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "flip":
        data[len(data) - 3] ^= 1
        path.write_bytes(data)
    else:
        path.write_bytes(b"")


@pytest.mark.parametrize("kind", ["remove", "cut", "empty", "flip"])
@pytest.mark.parametrize(
    "name",
    [
        *("index.json", "sentences.txt", "words.txt", "token_words.npy", "starts.npy", "lengths.npy"),
        *("layer-0.npy", "layer-2.npy"),
    ],
)
def test_a_damaged_file_is_found(folder, name, kind, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    change(tmp_path / "copy" / name, kind)
    with pytest.raises(ElmoError, match="index is damaged|so this is no index"):
        index = ContextIndex(tmp_path / "copy")
        assert name.startswith("layer"), "this index must not open"
        index.check_layers()


def roll(path: Path) -> None:
    """Every row in the place of another: type, shape and values stay."""
    np.save(path, np.roll(np.load(path), 1, axis=0))


@pytest.mark.parametrize("memory", [0, 1 << 29])
@pytest.mark.parametrize("layer", [2, -1, [0.5, 0.2, 1.5]])
def test_vectors_that_changed_places_are_found_before_the_first_search(folder, layer, memory, monkeypatch):
    monkeypatch.setattr(context_index, "MEMORY_BYTES", memory)
    roll(folder / "layer-2.npy")
    index = ContextIndex(folder)
    searches = [
        lambda: index.search(np.ones(index.dim), layer),
        lambda: index.search(np.ones(index.dim), layer, word="bank", which="same"),
        lambda: index.search(np.ones(index.dim), layer, center=True),
        lambda: index.mean(layer),
        lambda: index.vectors(np.arange(3), layer),
    ]
    for search in searches:
        with pytest.raises(TextError, match=r"layer-2.npy: doesn't have the SHA-256"):
            search()
    assert index.search(np.ones(index.dim), 1)


def test_a_layer_is_hashed_once_by_however_many_threads(folder, monkeypatch):
    hashed = []
    index = ContextIndex(folder)
    monkeypatch.setattr(index_files, "file_hash", lambda path: hashed.append(path.name) or file_hash(path))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: index.search(np.ones(index.dim), number % 3), range(48)))
    assert sorted(hashed) == ["layer-0.npy", "layer-1.npy", "layer-2.npy"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_layers", 10**12), ("num_layers", True), ("sha256", []), ("sha256", None), ("dim", 10**400)],
)
def test_facts_that_are_made_up_are_refused_at_once(folder, name, value):
    facts = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    (folder / "index.json").write_text(json.dumps({**facts, name: value}), encoding="utf-8")
    with pytest.raises(TextError, match="index is damaged"):
        ContextIndex(folder)


def test_headers_that_make_no_sense_are_refused(folder):
    """np.load raises tokenize.TokenError for them."""
    path = folder / "layer-1.npy"
    path.write_bytes(path.read_bytes().replace(b"'shape': (", b"'shape': ((", 1))
    with pytest.raises(TextError, match="layer-1.npy: can't be read.*the index is damaged"):
        ContextIndex(folder)


def test_a_query_has_other_words_and_the_same_word_for_each_layer(folder, embedder):
    tokens = ["the", "bank", "was", "steep"]
    found = neighbors(ContextIndex(folder), embedder, tokens, 1, count=3)
    assert len(found) == 3
    for near in found:
        assert {hit.word for hit in near["same"]} == {"bank"} and "bank" not in {hit.word for hit in near["other"]}
        assert len({hit.word for hit in near["other"]}) == len(near["other"]) == 3


@pytest.mark.parametrize("place", [-1, 4])
def test_a_place_outside_the_sentence_is_refused(folder, embedder, place):
    tokens = ["the", "bank", "was", "steep"]
    with pytest.raises(ConfigError, match=f"place is {place}, but"):
        neighbors(ContextIndex(folder), embedder, tokens, place)
    with pytest.raises(ConfigError, match=f"place is {place}, but"):
        occurrence_map(ContextIndex(folder), embedder, [(tokens, place)])


def test_static_neighbors_leave_the_word_out():
    static = StaticVectors(("a", "b", "c"), np.array([[1, 0], [2, 0.1], [0, 1]], dtype=np.float32))
    assert [word for word, _ in static_neighbors(static, "a")] == ["b", "c"]
    assert static_neighbors(static, "unknown") == []


@pytest.mark.parametrize(
    ("text", "query", "asked", "forms"),
    [
        ("배가 크다|배를 먹었다|배우가 왔다|배에서도 보인다", "큰 배는 온다", {"noun": "배"}, "배가 배를 배에서도"),
        ("배를 탔다|차를 타고|나무가 탁자로|재가 탄", "불에 타는 집", {"verb": "타다"}, "탔다 타고 탄"),
    ],
)
def test_the_forms_of_a_noun_or_verb_are_occurrences_of_one_word(embedder, tmp_path, text, query, asked, forms):
    build_index([sentence.split() for sentence in text.split("|")], embedder, tmp_path / "index")
    index, expected = ContextIndex(tmp_path / "index"), set(forms.split())
    for layer in neighbors(index, embedder, query.split(), place=1, **asked):
        assert {hit.word for hit in layer["same"]} == expected
        assert {hit.word for hit in layer["other"]}.isdisjoint(expected)
    assert all(not layer["same"] for layer in neighbors(index, embedder, query.split(), place=1))


@pytest.mark.parametrize(("noun", "verb"), [("사과", None), ("", None), ("배", "먹다")])
def test_a_noun_or_verb_of_which_the_text_has_no_form_is_refused(embedder, tmp_path, noun, verb):
    build_index([["큰", "배는", "온다"]], embedder, tmp_path / "index")
    index = ContextIndex(tmp_path / "index")
    with pytest.raises(ConfigError, match=r"(noun|verb) must be a Korean .* that .*index has in some form"):
        require_forms(index, noun, verb)
    require_forms(index, "배", "오다")


def test_names_that_are_not_utf8_are_kept(embedder, tmp_path):
    build_index([["a", "b"]], embedder, tmp_path / "index", model="m\udcff", source="t\udcff.txt")
    facts = ContextIndex(tmp_path / "index").facts
    assert (facts.model, facts.source) == ("m\udcff", "t\udcff.txt")
