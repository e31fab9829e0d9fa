"""/v1/embeddings: the library's vectors, in OpenAI's shape."""

import base64

import numpy as np
import pytest

SENTENCES = [["the", "cat", "sat"], ["on", "the", "mat", "."], ["no"]]
TEXTS = ["the cat sat", ["on", "the", "mat", "."], "no"]


def vectors(answer) -> list[np.ndarray]:
    assert answer.status_code == 200, answer.text
    return [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in answer.json()["data"]]


def asked(client, **fields):
    return client.post("/v1/embeddings", json={"encoding_format": "base64"} | fields)


@pytest.mark.parametrize("layers", ["average", "top", 0, -1, [0.25, 0.25, 0.5]])
@pytest.mark.parametrize("pool", ["mean", "first_last"])
def test_vectors_are_the_librarys(client, embedder, layers, pool):
    found = vectors(asked(client, input=TEXTS, layers=layers, pool=pool))
    assert np.array_equal(found, embedder.embed(SENTENCES, layers, pool=pool))


def test_normalized_vectors_are_the_librarys(client, embedder):
    found = vectors(asked(client, input=TEXTS, normalize=True))
    assert np.array_equal(found, embedder.embed(SENTENCES, "average", pool="mean", normalize=True))


def test_the_path_may_leave_out_the_version(client):
    body = {"input": TEXTS}
    assert client.post("/embeddings", json=body).json() == client.post("/v1/embeddings", json=body).json()


@pytest.mark.parametrize("layers", ["all", "top"])
def test_without_pooling_every_token_has_its_vector(client, embedder, layers):
    rows = asked(client, input=TEXTS, layers=layers, pool="none").json()["data"]
    for row, array in zip(rows, embedder.embed(SENTENCES, layers), strict=True):
        found = np.frombuffer(base64.b64decode(row["embedding"]), "<f4").reshape(row["shape"])
        assert np.array_equal(found, array)


def test_text_is_cut_by_rules_unless_whitespace_is_asked_for(client, embedder):
    text = "The cat's mat."
    cut = [["The", "cat", "'s", "mat", "."]], [["The", "cat's", "mat."]]
    for tokenizer, sentences in zip((None, "whitespace"), cut, strict=True):
        found = vectors(asked(client, input=text, tokenizer=tokenizer))
        assert np.array_equal(found, embedder.embed(sentences, "average", pool="mean"))


def test_words_of_one_model_and_another_name_are_kept_apart(client):
    assert asked(client, input="the", model="mute").json()["model"] == "mute"


def test_a_text_that_shows_its_tokens_is_read_as_it_is_whatever_else_is_sent(client, embedder):
    texts = ["It didn't rain .", "It didn't rain."]
    alone = [vectors(asked(client, input=text))[0] for text in texts]
    assert np.array_equal(vectors(asked(client, input=texts)), alone)
    read = [["It", "didn't", "rain", "."], ["It", "did", "n't", "rain", "."]]
    assert np.array_equal(alone, embedder.embed(read, "average", pool="mean"))


def test_fields_of_openai_may_be_null_and_a_slash_may_end_the_path(client):
    nothing = dict.fromkeys(("model", "encoding_format", "dimensions", "user", "tokenizer"))
    answer = client.post("/v1/embeddings/", json={"input": "a", **nothing})
    assert answer.json() == asked(client, input="a", encoding_format="float").json()
    assert client.post("/v1/token_embeddings/", json={"input": "a", "encoding_format": None}).status_code == 200


def test_as_many_texts_as_openai_takes_are_computed_in_batches(new_client, embedder):
    client = new_client(max_batch_tokens=64)
    texts = [f"the cat sat on mat {number % 7}" for number in range(2048)]
    expected = embedder.embed(texts, "average", pool="mean")
    assert np.array_equal(vectors(asked(client, input=texts)), expected)


def test_what_would_make_vectors_poor_is_told_in_a_header_each_time_and_in_the_log_once(client, caplog):
    for _ in range(2):
        answer = asked(client, input=["[PAD] a", "é"])
        assert answer.headers["warning"].startswith('299 elmo "the text has [PAD], special tokens of other models')
    assert len(caplog.records) == 1
    assert "warning" not in asked(client, input="a").headers
