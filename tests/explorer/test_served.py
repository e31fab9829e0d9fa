"""The page as `elmo explore` serves it: the engine's layers, the index, the tensors; and nothing to foreign pages."""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from safetensors.numpy import load
from starlette.testclient import TestClient

from elmo.explorer.explored import Mix
from elmo.explorer.served import Page
from elmo.serve.app import create_app

SENTENCES = [["the", "bank", "was", "steep"], ["money"]]


@pytest.fixture
def client(explored) -> Iterator[TestClient]:
    page = Page({"a b": explored}, [Mix("ner, seed-1", [0.2, 0.5, 0.3])])
    with TestClient(create_app([explored.model], extra_routes=page.routes()), base_url="http://localhost") as client:
        yield client


def test_the_layers_are_the_embedders(client, explored):
    answer = client.post("/explorer/a%20b/layers", json={"sentences": SENTENCES})
    expected = np.concatenate([array.ravel() for array in explored.model.embedder.embed(SENTENCES)])
    assert answer.content == expected.astype("<f4").tobytes()


def test_the_files_are_those_of_the_index_and_of_the_model(client, explored):
    index = explored.index()
    for name in ("lengths.npy", "layer-0.npy", "layer-2.npy"):
        content = client.get(f"/explorer/a%20b/{name}").content
        assert content == (index.folder / name).read_bytes()
        assert content[6] == 1, "numpy's file of version 1, whose length of the header the page reads"
    assert client.get("/explorer/a%20b/text.txt").text.splitlines() == [" ".join(it) for it in index.sentences]
    tensors, own = load(client.get("/explorer/a%20b/model.safetensors").content), explored.model.embedder.checkpoint
    assert {name: it.tolist() for name, it in tensors.items()} == {k: v.tolist() for k, v in own.tensors.items()}


def test_the_page_knows_what_its_worker_needs_and_loads_from_here_alone(client, explored):
    answer = client.get("/", follow_redirects=True)
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    kept = json.loads(re.search(r'id="frozen">(.*?)</script>', answer.text, re.DOTALL)[1])
    assert kept["served"] == "/explorer/" and kept["engine"]["a b"]["config"]["cell_size"] == 16
    assert kept["answers"]["mixes"] == [{"name": "ner, seed-1", "weights": [0.2, 0.5, 0.3]}]
    assert kept["answers"]["info"]["models"][0]["model_hash"] == explored.model.embedder.model_hash


@pytest.mark.parametrize(
    ("path", "request_", "status", "message"),
    [
        ("other/layers", {"sentences": []}, 404, "there is no model 'other'"),
        ("a%20b/layers", {"sentences": [], "k": 1}, 400, "unknown field"),
        ("a%20b/layers", {"sentences": [1]}, 400, "sentences"),
        ("a%20b/substitutes", {"tokens": ["a"], "place": 0, "count": 3}, 404, "has no softmax"),
        ("a%20b/vocab.txt", None, 404, "no such file"),
        ("a%20b/index.json", None, 404, "no such file"),
        ("a%20b/..%2Findex.json", None, 404, ""),
    ],
)
def test_what_is_not_there_is_refused_with_a_next_step(client, path, request_, status, message):
    address = f"/explorer/{path}"
    answer = client.get(address) if request_ is None else client.post(address, json=request_)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]


def test_a_foreign_page_gets_nothing(client):
    address, request = "/explorer/a%20b/layers", {"sentences": SENTENCES}
    assert client.post(address, content=json.dumps(request)).status_code == 415
    assert client.post(address, json=request, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/explorer", headers={"Host": "evil.example"}).status_code == 400
