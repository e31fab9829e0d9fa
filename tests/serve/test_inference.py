"""/embed, /embed_all and /tokenize, as clients of text-embeddings-inference ask for them."""

import numpy as np
import pytest

TEXTS = ["The cat sat .", "on the mat", "밥을 먹었다"]
SPLIT = [text.split() for text in TEXTS]


@pytest.mark.parametrize("path", ["/embed", "/"])
def test_vectors_are_the_librarys_of_length_1(client, embedder, path):
    asked = {"inputs": TEXTS, "truncate": True, "truncation_direction": "Right", "prompt_name": None}
    found = np.array(client.post(path, json=asked).json(), np.float32)
    assert np.array_equal(found, embedder.embed(SPLIT, "average", pool="mean", normalize=True))
    (one,) = client.post(path, json={"inputs": TEXTS[1], "normalize": False, "layers": "top", "pool": "max"}).json()
    assert np.array_equal(np.array(one, np.float32), embedder.embed(SPLIT[1:2], "top", pool="max")[0])


def test_every_token_gets_a_vector(client, embedder):
    found = client.post("/embed_all", json={"inputs": TEXTS, "layers": 1}).json()
    for rows, expected in zip(found, embedder.embed(SPLIT, 1), strict=True):
        assert np.array_equal(np.array(rows, np.float32), expected)
    assert client.post("/embed_all", json={"inputs": ["", "a"]}).json()[0] == []


def test_tokens_have_their_places_in_the_text(client):
    texts = ["The cat, 밥을", ["two", "words"]]
    (raw, given) = client.post("/tokenize", json={"inputs": texts, "add_special_tokens": True}).json()
    assert [token["text"] for token in raw] == ["The", "cat", ",", "밥을"]
    assert [texts[0][token["start"] : token["stop"]] for token in raw] == ["The", "cat", ",", "밥을"]
    assert given[0] == {"id": 0, "text": "two", "special": False, "start": None, "stop": None}
    (spaced,) = client.post("/tokenize", json={"inputs": "a,b", "tokenizer": "whitespace"}).json()
    assert [token["text"] for token in spaced] == ["a,b"]


@pytest.mark.parametrize("path", ["/embed", "/embed_all", "/tokenize"])
def test_what_is_no_text_is_refused(client, path):
    for inputs, code in (([], "empty"), ([[1, 2]], "token_ids"), (["a"] * 2049, "too_many_inputs"), (None, None)):
        answer = client.post(path, json={"inputs": inputs})
        assert answer.status_code == 400
        assert answer.json()["error"]["param"] == "inputs"
        assert code in (None, answer.json()["error"]["code"])
    assert client.post(path, json={"inputs": "a", "prompt_name": "query"}).json()["error"]["param"] == "prompt_name"


def test_texts_that_cannot_have_one_vector_are_refused(client):
    for asked, param in (
        ({"inputs": ["a", " "]}, "inputs"),
        ({"inputs": "a", "layers": "all"}, "layers"),
        ({"inputs": "a", "dimensions": 3}, "dimensions"),
    ):
        answer = client.post("/embed", json=asked)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert client.post("/embed_all", json={"inputs": "a", "layers": "all"}).status_code == 400
    answer = client.post("/embed_all", json={"inputs": ["a " * 5000, "b " * 5000]})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "inputs")


@pytest.mark.filterwarnings("ignore")  # the client's own
def test_hugging_faces_client_gets_the_librarys_vectors(live, embedder):
    hub = pytest.importorskip("huggingface_hub")
    expected = embedder.embed(SPLIT, "average", pool="mean", normalize=True)
    for address in (live.url, f"{live.url}/embed"):
        client = hub.InferenceClient(address)
        assert np.array_equal(client.feature_extraction(TEXTS), expected)
        if tuple(map(int, hub.__version__.split(".")[:2])) < (0, 34):
            continue  # sends options in a field of their own, which text-embeddings-inference doesn't know either
        plain = client.feature_extraction(TEXTS[0], normalize=False, truncate=True)
        assert np.array_equal(plain, embedder.embed(SPLIT[:1], "average", pool="mean"))
