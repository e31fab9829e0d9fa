"""/v1/substitutes: what the library predicts for a place."""

import unicodedata

import pytest

from elmo.serve.routes import substitutes


@pytest.mark.parametrize(
    "asked",
    [
        {"input": "the [cat] sat"},
        {"input": "the cat sat", "place": 1},
        {"input": ["the", "cat", "sat"], "place": 1, "count": 3},
    ],
)
def test_predictions_are_the_librarys(client, predict, asked):
    pytest.importorskip("torch")
    answer = client.post("/v1/substitutes", json=asked).json()
    assert (answer["tokens"], answer["place"], answer["model"]) == (["the", "cat", "sat"], 1, "tiny")
    expected = predict(["the", "cat", "sat"], 1, asked.get("count", 10))
    assert list(answer["predictions"]) == ["forward", "backward", "both"]
    for name, prediction in expected.items():
        found = answer["predictions"][name]
        assert [(row["word"], row["probability"]) for row in found["best"]] == prediction.best
        assert (found["probability"], found["rank"]) == (prediction.probability, prediction.rank)


@pytest.mark.parametrize(
    ("asked", "param", "words"),
    [
        ({"input": ["the", "cat"]}, "place", "place is missing"),
        ({"input": "the cat"}, None, "0 tokens in brackets"),
        ({"input": "[the] [cat]"}, None, "2 tokens in brackets"),
        ({"input": "the cat", "place": 2}, None, "place is 2"),
        ({"input": "the cat", "place": -1}, None, "place is -1"),
        ({"input": "", "place": 0}, None, "place is 0"),
        ({"input": "a [b]", "count": 0}, "count", "count: Expected `int` >= 1"),
        ({"input": "a [b]", "count": 1001}, "count", "count: Expected `int` <= 1000"),
        ({"input": "a [b]", "model": "mute"}, "model", "has no softmax"),
        ({"input": "b " * 140_000 + "[b]"}, "input", "more than 131,072 tokens"),
    ],
)
def test_what_means_no_place_is_refused(client, asked, param, words):
    if words.startswith("place is ") and param is None:
        pytest.importorskip("torch")  # it is the library that refuses such a place
    answer = client.post("/v1/substitutes", json=asked)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert words in answer.json()["error"]["message"]


def test_a_marked_text_is_always_split_as_by_auto(new_client):
    client = new_client(tokenizer="whitespace")
    assert client.post("/v1/substitutes", json={"input": "a [b]."}).json()["tokens"] == list("ab.")


def test_a_marked_text_with_letters_taken_apart_has_the_tokens_of_the_composed_one(client):
    pytest.importorskip("torch")
    text = "물가는 [밥을] 50%였다."
    for form in ("NFC", "NFD"):
        answer = client.post("/v1/substitutes", json={"input": unicodedata.normalize(form, text)}).json()
        assert answer["tokens"] == ["물가는", "밥을", "50%였다", "."]


def test_a_marked_text_of_too_many_words_is_refused_before_it_is_tokenized(client, monkeypatch):
    tokenized = []
    monkeypatch.setattr(substitutes, "marked", tokenized.append)
    error = client.post("/v1/substitutes", json={"input": "b " * 140_000 + "[b]"}).json()["error"]
    assert (error["code"], error["param"], tokenized) == ("too_many_tokens", "input", [])
