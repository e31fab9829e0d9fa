"""/health, /ready, /v1/models, /metrics, and routes of others."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

import elmo
from elmo.serve.answers import invalid, json_answer
from elmo.serve.app import create_app
from elmo.serve.service import service_of
from elmo.serve.settings import ServeSettings


def test_a_server_needs_no_torch():
    code = (
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] == 'torch':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "from elmo.serve.app import create_app; from elmo.serve.models import ServedModel\n"
        "model = ServedModel.load('small-en'); create_app([model])\n"
        "print(model.substitutes(['He', 'sat'], 1, 1)['both'].rank)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(elmo.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout.strip().isdecimal(), done.returncode) == (True, 0), done.stderr


def until_ready(client):
    for _ in range(500):
        if client.get("/ready").status_code == 200:
            return
        time.sleep(0.01)
    pytest.fail("the server did not become ready")


def test_a_server_lives_before_it_is_ready(new_client, hold):
    _, go_on = hold()
    client = new_client()
    assert client.get("/health").json() == {"status": "ok"}
    answer = client.get("/ready")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "warming_up")
    go_on.set()
    until_ready(client)


def test_a_server_that_stops_is_not_ready(client):
    until_ready(client)
    client.app.state.service.is_stopping = True
    assert client.get("/ready").json()["error"]["code"] == "stopping"
    assert client.get("/health").status_code == 200


def test_a_model_that_cannot_compute_never_becomes_ready(new_client, embedder, monkeypatch):
    def broken(*_):
        raise RuntimeError("the model is broken")

    monkeypatch.setattr(embedder, "embed", broken)
    client = new_client()
    for _ in range(100):
        answer = client.get("/ready")
        if answer.json()["error"]["code"] == "failed":
            break
        time.sleep(0.01)
    assert answer.status_code == 503
    assert "RuntimeError: the model is broken" in answer.json()["error"]["message"]


def test_models_are_listed_as_openai_lists_them(client, embedder):
    answer = client.get("/v1/models").json()
    assert answer["object"] == "list"
    assert [(model["id"], model["object"], model["substitutes"]) for model in answer["data"]] == [
        ("tiny", "model", True),
        ("mute", "model", False),
    ]
    first = answer["data"][0]
    assert (first["layers"], first["dimensions"], first["model_hash"]) == (3, embedder.layer_dim, embedder.model_hash)
    assert abs(first["created"] - time.time()) < 600


def test_metrics_count_requests_by_known_paths_and_tokens(client):
    until_ready(client)
    client.post("/v1/embeddings", json={"input": "the cat sat"})
    client.post("/v1/embeddings", json={"input": [1]})
    client.get("/v1/models/tiny")
    client.get("/made/up/1")
    client.get("/made/up/2", headers={"Host": "evil.example"})
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'elmo_requests_total{path="/v1/embeddings",status="200"} 1.0' in lines
    assert 'elmo_requests_total{path="/v1/embeddings",status="400"} 1.0' in lines
    assert 'elmo_requests_total{path="/v1/models/{name}",status="200"} 1.0' in lines
    assert 'elmo_requests_total{path="other",status="404"} 1.0' in lines
    assert 'elmo_requests_total{path="other",status="400"} 1.0' in lines
    assert "elmo_tokens_total 5.0" in lines  # one for the warm-up of each model
    assert "elmo_queued_tokens 0.0" in lines
    assert "made" not in answer.text


def test_routes_of_others_share_models_limits_and_errors(models, embedder):
    async def answer(request):
        service = service_of(request)
        if request.query_params.get("wrong"):
            raise invalid("wrong is given. Leave it out.", "wrong")
        model, deadline = service.model(None), service.deadline()
        arrays = await service.embed(request, model, [["the", "cat"]], "all", deadline)
        thread = await service.run(request, lambda: threading.current_thread().name, deadline)
        return json_answer({"shape": list(arrays[0].shape), "thread": thread})

    app = create_app(models, ServeSettings(hosts=["testserver"]), extra_routes=[Route("/mine", answer)])
    with TestClient(app) as client:
        assert client.get("/mine").json() == {"shape": [3, 2, embedder.layer_dim], "thread": "elmo-compute"}
        assert client.get("/mine?wrong=1").json()["error"]["param"] == "wrong"
        assert client.get("/mine", headers={"Host": "evil.example"}).status_code == 400
        assert 'elmo_requests_total{path="/mine",status="200"} 1.0' in client.get("/metrics").text


def test_one_model_is_described_as_in_the_list(client):
    listed = client.get("/v1/models").json()["data"]
    assert client.get("/v1/models/mute").json() == listed[1]
    assert client.get("/v1/models/tiny/").json() == listed[0]
