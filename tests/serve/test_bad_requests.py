"""Whatever is sent, the answer is an error in OpenAI's shape that says what, why and what to do; never 5xx."""

import asyncio
import json
from contextlib import suppress

import pytest

from elmo.errors import ConfigError
from elmo.serve.app import create_app
from elmo.serve.models import ServedModel
from elmo.serve.settings import ServeSettings

JSON = {"Content-Type": "application/json"}


def refused(answer, status: int) -> dict:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"].count(". ") >= 1  # what and why, and the next step
    return error


def post(client, body: object, path: str = "/v1/embeddings", **headers: str):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, content=content, headers=JSON | headers)


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"input": [1, 2, 3]}, "input", "check_embedding_ctx_length=False"),
        ({"input": [[1, 2], [3]]}, "input", "check_embedding_ctx_length=False"),
        ({"input": []}, "input", "length >= 1"),
        ({"input": ""}, "input", "input[0] has no tokens"),
        ({"input": ["a", " \n"]}, "input", "input[1] has no tokens"),
        ({"input": [[]]}, "input", "input[0] has no tokens"),
        ({"input": None}, "input", "input: Expected"),
        ({"input": {"text": "a"}}, "input", "got `object`"),
        ({"input": ["a", None]}, "input", "input[1]: Expected"),
        ({"input": [["a", None]]}, "input", "input[0][1]: Expected"),
        ({"input": [[["a"]]]}, "input", "input[0][0]: Expected"),
        ({"input": True}, "input", "got `bool`"),
        ({}, None, "missing required field `input`"),
        ({"input": "a", "layer": 1}, None, "unknown field `layer`. The fields of this request are: input, "),
        ({"input": "a", "encoding_format": "int8"}, "encoding_format", "encoding_format: Invalid enum value"),
        ({"input": "a", "layers": "both"}, None, "layers is 'both'"),
        ({"input": "a", "layers": 3}, None, "layers is 3, but the model has 3 layers"),
        ({"input": "a", "layers": 10**30}, None, "but the model has 3 layers"),
        ({"input": "a", "layers": [1, 2]}, None, "layers is [1.0, 2.0], but the model has 3 layers"),
        ({"input": "a", "layers": True}, "layers", "got `bool`"),
        ({"input": "a", "layers": None}, "layers", "got `null`"),
        ({"input": "a", "layers": [1e300, 0, 0]}, "layers", "exceeds float32"),
        ({"input": "a", "pool": "sum"}, "pool", "pool: Invalid enum value"),
        ({"input": "a", "tokenizer": "os:system"}, "tokenizer", "tokenizer: Invalid enum value"),
        ({"input": "a", "dimensions": 8}, "dimensions", "dimensions: Expected `null`"),
        ({"input": "a", "model": 5}, "model", "model: Expected"),
        ({"input": ["a"] * 2049}, "input", "2,049 texts, more than 2,048"),
        ({"input": "a " * 131_073}, "input", "more than 131,072 tokens"),
        ({"input": [["a"] * 131_072, "a"]}, "input", "input[1] is the first that exceeds this"),
        ({"input": "." * 3 + "!" * 131_072}, "input", "more than 131,072 tokens"),
        ([], None, "Expected `object`, got `array`"),
        ("a", None, "Expected `object`, got `str`"),
        (5, None, "Expected `object`, got `int`"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_why(client, fields, param, words):
    error = refused(post(client, fields), 400)
    assert words in error["message"]
    assert (error["param"], error["type"]) == (param, "invalid_request_error")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"input": "a"} x',
        b'{"input": NaN}',
        b'{"input": "a", "layers": [Infinity, 1, 1]}',
        b"\xff\xfe",
        b'{"input": "\xe9"}',
        b'{"input": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"x": ' + b"[" * 10_000 + b"]" * 10_000 + b', "input": "a"}',
        b'{"input": "a", "layers": [1e400, 1, 1]}',
        b'{"input": "\\ud83d"}',
        b'{"input": [["\\udead"]]}',
        b"input=a",
    ],
    ids=range(13),
)
def test_a_body_that_is_no_proper_json_is_refused(client, body):
    refused(post(client, body), 400)


@pytest.mark.parametrize("media_type", ["", "Application/JSON; charset=UTF-8", "application/x-www-form-urlencoded"])
def test_a_body_is_json_whatever_its_type_says(client, media_type):
    assert post(client, {"input": "a"}, **{"Content-Type": media_type}).status_code == 200


def test_a_byte_order_mark_before_the_json_is_skipped(client):
    marked = post(client, b'\xef\xbb\xbf{"input": "a"}')
    assert marked.json() == post(client, {"input": "a"}).json()


def test_an_unknown_model_is_not_found_and_the_known_are_named(client):
    for answer in (post(client, {"input": "a", "model": "another"}), client.get("/v1/models/another")):
        error = refused(answer, 404)
        assert (error["code"], error["param"]) == ("model_not_found", "model")
        assert "no model 'another' here. Use one of tiny, mute," in error["message"]


@pytest.mark.parametrize("path", ["/v1", "/v1/completions", "/docs", "/rerank", "/embed", "/%00", "/v1/models/x/y"])
def test_other_paths_are_not_found(client, path):
    assert refused(client.get(path), 404)["code"] == "not_found"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_not_allowed(client, method):
    answer = client.request(method, "/v1/embeddings")
    assert answer.headers["allow"] == "POST"
    assert "Use POST" in refused(answer, 405)["message"]


def test_a_body_beyond_the_limit_is_too_large(new_client):
    client = new_client(max_body_bytes=100)
    assert "more than 100 bytes" in refused(post(client, {"input": "a" * 100}), 413)["message"]
    assert post(client, {"input": "a" * 80}).status_code == 200


def test_an_answer_with_millions_of_numbers_is_refused_unless_it_is_binary(new_client, monkeypatch):
    monkeypatch.setattr("elmo.serve.routes.embeddings._MOST_JSON_NUMBERS", 100)
    client = new_client()
    error = refused(post(client, {"input": "a " * 10}, "/v1/token_embeddings"), 400)
    assert "would have 480 numbers, but at most 100" in error["message"]
    asked = {"input": "a " * 10, "encoding_format": "base64"}
    assert post(client, asked, "/v1/token_embeddings").status_code == 200


@pytest.mark.parametrize(
    ("path", "asked", "place"),
    [
        ("/v1/embeddings", {"input": ["a", ["b\n"]]}, "input[1][0] is 'b\\n'"),
        ("/v1/embeddings", {"input": [["It was so.", "And it went on."]]}, "input[0] is a list of texts"),
        ("/v1/token_embeddings", {"input": [*["a b c"] * 9, ["b\n"]]}, "input[9][0] is"),
        ("/v1/substitutes", {"input": ["a", "b\n"], "place": 0}, "input[1] is"),
    ],
)
def test_a_list_that_holds_no_tokens_is_named_as_in_the_request(new_client, path, asked, place):
    error = refused(new_client(max_batch_tokens=8).post(path, json=asked), 400)
    assert error["message"].startswith(place)


@pytest.mark.parametrize(
    ("path", "asked", "reading"),
    [
        ("/v1/embeddings", {"input": "b" * 20_001}, "inputs.placed_as_one"),
        ("/v1/embeddings", {"input": [["b"] * 20_001]}, "inputs.as_trained"),
        ("/v1/substitutes", {"input": "[a] " + "b" * 20_001}, "routes.substitutes.marked"),
    ],
)
def test_others_are_answered_while_what_is_long_is_read(new_client, monkeypatch, path, asked, reading):
    in_event_loop = []

    def refusing(*_):
        with suppress(RuntimeError):
            in_event_loop.append(asyncio.get_running_loop())
        raise ConfigError("it was read. Stop here.")

    monkeypatch.setattr(f"elmo.serve.{reading}", refusing)
    assert "it was read" in refused(new_client().post(path, json=asked), 400)["message"]
    assert not in_event_loop


def test_text_that_fills_the_limit_of_tokens_is_taken(new_client):
    client = new_client(max_tokens=4)
    assert post(client, {"input": ["a b", "c d"]}).status_code == 200
    refused(post(client, {"input": ["a b", "c d e"]}), 400)


def test_an_error_of_the_server_itself_is_told_without_its_details(client, embedder, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr(embedder, "embed", broken)
    error = refused(post(client, {"input": "a"}), 500)
    assert (error["type"], error["code"]) == ("server_error", "internal_error")
    assert "secret" not in error["message"]


def test_memory_that_runs_out_is_no_fault_of_the_request(client, embedder, monkeypatch):
    def exhausted(*_):
        raise MemoryError("no more")

    monkeypatch.setattr(embedder, "embed", exhausted)
    answer = post(client, {"input": "a"})
    assert refused(answer, 503)["code"] == "out_of_memory"
    assert answer.headers["retry-after"]


def test_values_that_are_not_finite_never_leave_the_server(client, embedder, monkeypatch):
    whole = embedder.embed

    def overflowing(sentences, layers):
        return [array * float("inf") for array in whole(sentences, layers)]

    monkeypatch.setattr(embedder, "embed", overflowing)
    error = refused(post(client, {"input": "a"}), 500)
    assert "not finite" in error["message"]


def test_models_must_have_names_of_their_own_and_no_memory(embedder, tiny_checkpoint):
    from elmo.embed.embedder import Embedder

    model = ServedModel("tiny", embedder)
    with pytest.raises(ValueError, match="two models have one name"):
        create_app([model, model])
    with pytest.raises(ValueError, match="state 'carry'"):
        ServedModel("carrying", Embedder(tiny_checkpoint, state="carry"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_tokens": 0}, "max_tokens must be at least 1 .got 0"),
        ({"deadline_seconds": 0}, "deadline_seconds must be above 0 .got 0"),
        ({"deadline_seconds": float("nan")}, "deadline_seconds must be a finite number .*got nan"),
        ({"api_keys": ["short"]}, "shorter than 16 characters"),
        ({"api_keys": ["é" * 20]}, "printable ASCII"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        ServeSettings(**settings)
