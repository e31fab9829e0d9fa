"""The app answers as the library does, and refuses in the shape of OpenAI's errors."""

import base64
from collections.abc import Iterator

import numpy as np
import pytest
from starlette.testclient import TestClient

from elmo.embed.embedder import Embedder
from elmo.serve.app import create_app
from elmo.serve.models import ServedModel
from elmo.serve.settings import ServeSettings


@pytest.fixture
def embedder(tiny_bilm) -> Embedder:
    return Embedder(tiny_bilm)


@pytest.fixture
def client(embedder) -> Iterator[TestClient]:
    settings = ServeSettings(hosts=["testserver"])
    with TestClient(create_app([ServedModel("tiny", embedder)], settings)) as client:
        yield client


@pytest.mark.parametrize("layers", ["average", "top", 0, -1, [0.25, 0.25, 0.5]])
def test_an_embedding_is_the_mean_of_the_librarys_vectors(client, embedder, layers):
    texts = ["the cat sat", ["on", "the", "mat", "."], "no"]
    asked = {"input": texts, "layers": layers, "encoding_format": "base64"}
    answer = client.post("/v1/embeddings", json=asked).json()
    sentences = [["the", "cat", "sat"], ["on", "the", "mat", "."], ["no"]]
    found = [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in answer["data"]]
    assert np.array_equal(found, embedder.embed(sentences, layers, pool="mean"))
    assert answer["usage"]["prompt_tokens"] == 8


def test_numbers_are_those_of_base64(client, embedder):
    answer = client.post("/v1/embeddings", json={"input": "the cat sat"}).json()
    found = np.array(answer["data"][0]["embedding"], np.float32)
    assert np.array_equal(found, embedder.embed([["the", "cat", "sat"]], "average", pool="mean")[0])
