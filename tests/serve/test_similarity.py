"""/v1/similarity: cosines of tokens."""

import threading

import numpy as np
import pytest

from elmo.serve.routes import similarity


@pytest.mark.parametrize("layers", ["all", "top", 1])
def test_similarity_is_the_cosine_of_the_librarys_vectors(client, embedder, layers):
    asked = {"a": "the cat sat", "b": ["on", "the"], "layers": layers}
    answer = client.post("/v1/similarity", json=asked).json()
    a, b = (array.astype(float) for array in embedder.embed([["the", "cat", "sat"], ["on", "the"]], layers))
    lengths = np.linalg.norm(a, axis=-1)[..., :, None] * np.linalg.norm(b, axis=-1)[..., None, :]
    np.testing.assert_allclose(answer["similarity"], a @ b.swapaxes(-1, -2) / lengths, atol=1e-6)
    assert (answer["a"], answer["b"]) == (["the", "cat", "sat"], ["on", "the"])


def test_its_numbers_are_written_beside_the_event_loop(client, monkeypatch):
    whole, threads = similarity.encoded, []
    monkeypatch.setattr(similarity, "encoded", lambda *it: (threads.append(threading.get_ident()), whole(*it))[1])
    assert client.post("/v1/similarity", json={"a": "the cat", "b": "a"}).status_code == 200
    assert threads and client.portal.call(threading.get_ident) not in threads


@pytest.mark.parametrize(("a", "b", "name"), [("", "a", "a"), ("a", [], "b"), ("a", "b " * 513, "b")])
def test_an_empty_or_long_text_is_refused_by_its_name(client, a, b, name):
    answer = client.post("/v1/similarity", json={"a": a, "b": b})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, name)
    assert "but 1 to 512 are compared" in answer.json()["error"]["message"]
