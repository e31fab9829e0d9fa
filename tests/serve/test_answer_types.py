"""The header Accept: the same vectors as JSON and safetensors."""

import json

import numpy as np
import pytest
from safetensors.numpy import load

from elmo.serve.encodings import JSON, SAFETENSORS, accepted

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


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        *((other, JSON) for other in ("", "text/html", "image/*", ",", ";;q=1")),
        ("*/*", JSON),
        ("application/*", JSON),
        (f"text/html, {JSON};q=0.1", JSON),
        (f"*/*, {SAFETENSORS};q=0.5", SAFETENSORS),
        (f"{SAFETENSORS.upper()} ; Q=1.0", SAFETENSORS),
    ],
)
def test_safetensors_is_for_those_who_name_it(header, chosen):
    assert accepted(header) == chosen


def test_an_accept_header_may_come_in_several_lines(client):
    headers = [("Accept", "text/html"), ("Accept", SAFETENSORS)]
    answer = client.post("/v1/embeddings", json={"input": "a"}, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, SAFETENSORS)
