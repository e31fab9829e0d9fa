"""The page's API over HTTP: the same numbers, and errors with a next step."""

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from elmo.explorer.frozen import opening_answers
from elmo.explorer.quality import Mix
from elmo.explorer.routes import Page
from elmo.serve.app import create_app

A = {"tokens": ["the", "bank", "was", "steep"], "place": 1}
B = {"tokens": ["money", "in", "the", "bank"], "place": 3}


@pytest.fixture
def client(explored) -> Iterator[TestClient]:
    page = Page({"tiny": explored}, [Mix("ner, seed-1", [0.2, 0.5, 0.3])])
    with TestClient(create_app([explored.model], extra_routes=page.routes()), base_url="http://localhost") as client:
        yield client


def plain(value) -> object:
    import msgspec

    return json.loads(msgspec.json.encode(value))


def test_every_route_answers_with_the_views_numbers(client, explored):
    asked = {
        "neighbors": ({"selected": A, "count": 3}, explored.neighbors((A["tokens"], 1), 3, None)),
        "neighbors?": ({"selected": A, "noun": "ba"}, explored.neighbors((A["tokens"], 1), 6, None, "ba")),
        "occurrences": ({"selected": [A, B]}, explored.occurrences([(A["tokens"], 1), (B["tokens"], 3)], 300, None)),
        "similarity": ({"a": A["tokens"], "b": B["tokens"]}, explored.similarity(A["tokens"], B["tokens"], None)),
        "computation": ({"selected": A}, explored.computation((A["tokens"], 1))),
        "text": ({}, explored.text_info()),
    }
    for route, (request, expected) in asked.items():
        answer = client.post(f"/explorer/api/{route.rstrip('?')}", json={"model": "tiny", **request})
        assert answer.status_code == 200, answer.text
        assert answer.json() == plain(expected)
    assert client.get("/explorer/api/info").json()["models"][0] == plain(explored.info())
    assert client.get("/explorer/api/mixes").json() == [{"name": "ner, seed-1", "weights": [0.2, 0.5, 0.3]}]
    assert client.post("/explorer/api/tokens", json={"text": "It's warm."}).json() == ["It", "'s", "warm", "."]
    told = client.post("/explorer/api/tokens", json={"text": "[PAD] a", "model": "tiny"})
    assert "[PAD], special tokens of other models" in told.headers["warning"]


@pytest.mark.parametrize(
    ("route", "request_", "status", "message"),
    [
        ("neighbors", {"model": "tiny", "selected": {"tokens": ["a"], "place": 1}}, 400, "place is 1"),
        ("neighbors", {"model": "tiny", "selected": {"tokens": [], "place": 0}}, 400, "has 0 tokens"),
        ("neighbors", {"model": "tiny", "selected": {"tokens": ["a b"], "place": 0}}, 400, "contains a space"),
        ("neighbors", {"model": "tiny", "selected": {"tokens": ["a"] * 201, "place": 0}}, 400, "has 201 tokens"),
        ("neighbors", {"model": "tiny", "selected": A, "count": 21}, 400, "count must be 1 to 20 (got 21)"),
        ("neighbors", {"model": "tiny", "selected": A, "weights": [1, 2]}, 400, "weights must be 3"),
        ("neighbors", {"model": "other", "selected": A}, 404, "there is no model 'other'"),
        ("neighbors", {"model": "tiny", "selected": A, "k": 1}, 400, "unknown field"),
        ("neighbors", {"model": "tiny", "selected": A, "noun": "river"}, 400, "does not begin with it"),
        ("neighbors", {"model": "tiny", "selected": A, "noun": ""}, 400, "the noun is ''"),
        ("occurrences", {"model": "tiny", "selected": []}, 400, "selected must be 1 to"),
        ("occurrences", {"model": "tiny", "selected": [A], "limit": 301}, 400, "limit must be 1 to 300 (got 301)"),
        ("similarity", {"model": "tiny", "a": ["x"], "b": []}, 400, "has 0 tokens"),
        ("substitutes", {"model": "tiny", "selected": A}, 400, "tiny has no softmax"),
        ("computation", {"model": "tiny", "selected": {"tokens": ["a"], "place": 1}}, 400, "place is 1"),
        ("tokens", {"text": "  "}, 400, "has 0 tokens"),
        ("tokens", {"text": "a" * 10_001}, 400, "has 10,001 characters, but the page reads 10,000 at most"),
    ],
)
def test_a_request_without_sense_is_refused_with_a_next_step(client, route, request_, status, message):
    answer = client.post(f"/explorer/api/{route}", json=request_)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]


def test_the_page_comes_with_what_it_opens_on_and_loads_from_here_alone(client, explored):
    answer = client.get("/", follow_redirects=True)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert opening_answers({"tiny": explored}, explored).replace("<", "\\u003c") in answer.text
    assert client.get("/explorer/style.css").headers["content-type"].startswith("text/css")
    assert client.get("/explorer/routes.py").status_code == 404
    assert client.get("/explorer/saved.html").status_code == 200


def test_a_foreign_page_gets_nothing(client):
    request = {"model": "tiny", "selected": A}
    assert client.post("/explorer/api/neighbors", content=json.dumps(request)).status_code == 415
    cross = client.post("/explorer/api/neighbors", json=request, headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    assert client.get("/explorer", headers={"Host": "evil.example"}).status_code == 400
