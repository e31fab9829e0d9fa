"""The header Accept: the same vectors as JSON, lines of JSON, safetensors and Arrow."""

import json
import threading

import numpy as np
import pytest
from safetensors.numpy import load

from elmo.serve import vectors
from elmo.serve.answers import Refusal
from elmo.serve.encodings import ARROW, JSON, LINES, SAFETENSORS, accepted

TEXTS = ["the cat sat", ["on", "the", "mat"], "no"]
SENTENCES = [["the", "cat", "sat"], ["on", "the", "mat"], ["no"]]


def asked(client, path, accept, **fields):
    answer = client.post(path, json={"input": TEXTS} | fields, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == accept
    return answer.content


def test_safetensors_has_a_tensor_for_each_text(client, embedder):
    found = load(asked(client, "/v1/token_embeddings", SAFETENSORS))
    for place, array in enumerate(embedder.embed(SENTENCES)):
        assert np.array_equal(found[str(place)], array)
    assert len(found) == 3
    pooled = load(asked(client, "/v1/embeddings", SAFETENSORS, layers="top"))
    assert np.array_equal([pooled["0"], pooled["1"], pooled["2"]], embedder.embed(SENTENCES, "top", pool="mean"))


def test_safetensors_says_what_its_vectors_are(client, embedder):
    content = asked(client, "/v1/token_embeddings", SAFETENSORS, layers=-1)
    facts = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    assert json.loads(facts.pop("tokens")) == SENTENCES
    assert facts == {"model": "tiny", "model_hash": embedder.model_hash, "layers": "2", "pool": "none"}


def test_arrow_has_a_row_for_each_token(client, embedder):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.ipc.open_stream(asked(client, "/v1/token_embeddings", ARROW)).read_all()
    expected = np.concatenate(embedder.embed(SENTENCES), axis=1)
    for layer in range(3):
        assert np.array_equal(np.array(table[f"layer_{layer}"].to_pylist(), np.float32), expected[layer])
    assert table["index"].to_pylist() == [0, 0, 0, 1, 1, 1, 2]
    assert table["token"].to_pylist() == [token for tokens in SENTENCES for token in tokens]
    assert table["start"].to_pylist() == [0, 4, 8, None, None, None, 0]
    assert table.schema.metadata[b"model"] == b"tiny"


def test_arrow_has_a_row_for_each_pooled_text(client, embedder):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.ipc.open_stream(asked(client, "/v1/embeddings", ARROW)).read_all()
    assert table.column_names == ["index", "vector"]
    expected = embedder.embed(SENTENCES, "average", pool="mean")
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), expected)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/token_embeddings"])
def test_lines_are_the_rows_of_the_json_answer(client, path):
    lines = [json.loads(line) for line in asked(client, path, LINES).splitlines()]
    assert lines == json.loads(asked(client, path, JSON))["data"]


@pytest.mark.parametrize(("most", "is_beside"), [(0, True), (1 << 16, False)])
def test_a_long_line_is_written_beside_the_event_loop(client, monkeypatch, most, is_beside):
    whole, threads = vectors._line, set()

    def line(*given):
        threads.add(threading.get_ident())
        return whole(*given)

    monkeypatch.setattr(vectors, "_line", line)
    monkeypatch.setattr(vectors, "_MANY_NUMBERS", most)
    asked(client, "/v1/embeddings", LINES)
    assert threads and (client.portal.call(threading.get_ident) not in threads) is is_beside


def test_an_error_while_lines_are_sent_is_the_last_line(client, embedder, monkeypatch):
    whole = embedder.embed

    def failing(sentences, layers):
        if any("mat" in sentence for sentence in sentences):
            raise RuntimeError("broken")
        return whole(sentences, layers)

    monkeypatch.setattr(embedder, "embed", failing)
    client.app.state.service.batcher.max_batch_tokens = 3
    first, last = asked(client, "/v1/embeddings", LINES).splitlines()
    assert json.loads(first)["index"] == 0
    assert json.loads(last)["error"]["code"] == "internal_error"


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (f"text/html, {LINES}", LINES),
        (f"{SAFETENSORS};q=0.5, {ARROW};q=0.9", ARROW),
        (f"{SAFETENSORS};q=0.5, */*;q=0.1", SAFETENSORS),
        (f"{JSON};q=0, */*", LINES),
        (f"{SAFETENSORS.upper()} ; Q=1.0", SAFETENSORS),
        (f"{LINES};q=nonsense, application/json;q=0.001", JSON),
    ],
)
def test_the_type_with_the_most_weight_is_taken(header, chosen):
    assert accepted(header) == chosen


def test_an_accept_header_may_come_in_several_lines(client):
    headers = [("Accept", "text/html"), ("Accept", LINES)]
    answer = client.post("/v1/embeddings", json={"input": "a"}, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, LINES)


@pytest.mark.parametrize("header", ["text/html", "application/json;q=0", "image/*", ",", ";;q=1"])
def test_a_type_that_cannot_be_had_is_refused(header, client):
    with pytest.raises(Refusal, match="this path answers with application/json, application/x-ndjson"):
        accepted(header)
    answer = client.post("/v1/embeddings", json={"input": "a"}, headers={"Accept": header})
    assert (answer.status_code, answer.json()["error"]["code"]) == (406, "not_acceptable")


def test_without_pyarrow_arrow_cannot_be_had(monkeypatch):
    monkeypatch.setattr("elmo.serve.encodings.find_spec", lambda _: None)
    assert accepted(f"{ARROW}, {SAFETENSORS};q=0.1") == SAFETENSORS
    with pytest.raises(Refusal):
        accepted(ARROW)
