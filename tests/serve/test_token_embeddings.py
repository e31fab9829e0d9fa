"""/v1/token_embeddings: tokens, their places in the text, and all layers."""

import base64

import numpy as np
import pytest

TEXT = "The  cat's\tmat, 밥을 \U0001f600 don't."


def rows(client, **fields):
    answer = client.post("/v1/token_embeddings", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_vectors_are_the_librarys(client, embedder):
    texts = ["the cat sat", [], ["", "a b"]]
    expected = embedder.embed([["the", "cat", "sat"], [], ["", "a b"]])
    for row, array in zip(rows(client, input=texts), expected, strict=True):
        assert row["shape"] == list(array.shape)
        assert np.array_equal(np.array(row["embedding"], np.float32).reshape(array.shape), array)


@pytest.mark.parametrize("layers", ["all", "average", "top", 0, [1, 0, 0]])
def test_base64_and_numbers_are_the_same(client, embedder, layers):
    (row,) = rows(client, input="the cat", layers=layers, encoding_format="base64", normalize=True)
    found = np.frombuffer(base64.b64decode(row["embedding"]), "<f4").reshape(row["shape"])
    (expected,) = embedder.embed([["the", "cat"]], layers, normalize=True)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("tokenizer", ["unicode", "whitespace"])
def test_spans_are_the_places_of_the_tokens_in_the_text(client, tokenizer):
    (row,) = rows(client, input=TEXT, tokenizer=tokenizer)
    assert [TEXT[start:end] for start, end in row["spans"]] == row["tokens"]
    assert ("'s" in row["tokens"]) == (tokenizer == "unicode")


def test_tokens_have_no_places_and_an_empty_text_has_no_tokens(client, embedder):
    (row,) = rows(client, input=[["the", "cat"]])
    assert (row["tokens"], row["spans"]) == (["the", "cat"], None)
    (row,) = rows(client, input=" ")
    assert (row["tokens"], row["spans"], row["shape"]) == ([], [], [3, 0, embedder.layer_dim])


def test_a_token_that_the_tokenizer_made_up_has_no_place(new_client, monkeypatch, tmp_path):
    (tmp_path / "shouting.py").write_text("def tokens(text):\n    return ['A'] + text.split()\n")
    monkeypatch.chdir(tmp_path)
    (row,) = rows(new_client(tokenizer="shouting:tokens"), input="the cat")
    assert (row["tokens"], row["spans"]) == (["A", "the", "cat"], [None, [0, 3], [4, 7]])
