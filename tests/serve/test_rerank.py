"""/rerank: the library's maxsim in the shapes of Cohere, Jina and text-embeddings-inference."""

import numpy as np
import pytest

QUERY = "the cat"
DOCUMENTS = ["on the mat", "the cat sat", "밥을 먹었다", "the"]


def plain(embedder, query, documents, layers=0):
    """The mean of the largest cosines, in float64."""

    def units(text):
        (array,) = embedder.embed([text.split()], layers)
        return array.astype(float) / np.linalg.norm(array.astype(float), axis=1, keepdims=True)

    return [(units(query) @ units(text).T).max(axis=1).mean() for text in documents]


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_documents_are_sorted_by_their_scores(client, embedder, path):
    answer = client.post(path, json={"query": QUERY, "documents": DOCUMENTS, "model": "tiny"}).json()
    expected = plain(embedder, QUERY, DOCUMENTS)
    assert [row["index"] for row in answer["results"]] == np.argsort(-np.array(expected)).tolist()
    scores = [row["relevance_score"] for row in answer["results"]]
    np.testing.assert_allclose(scores, sorted(expected, reverse=True), atol=1e-6)
    assert set(answer["results"][0]) == {"index", "relevance_score"}
    assert (answer["model"], answer["usage"]) == ("tiny", {"prompt_tokens": 11, "total_tokens": 11})


def test_documents_can_be_objects_or_tokens_and_are_returned_as_texts(client):
    documents = [{"text": "on the mat", "title": "a"}, ["the", "cat", "sat"], "the"]
    asked = {"query": QUERY.split(), "documents": documents, "top_n": 2, "return_documents": True}
    results = client.post("/v1/rerank", json=asked).json()["results"]
    assert len(results) == 2
    texts = {0: "on the mat", 1: "the cat sat", 2: "the"}
    assert all(row["document"] == {"text": texts[row["index"]]} for row in results)


@pytest.mark.parametrize("layers", ["top", "average", [0.5, 0.5, 0]])
def test_texts_are_answered_in_the_shape_of_text_embeddings_inference(client, embedder, layers):
    asked = {"query": QUERY, "texts": DOCUMENTS, "layers": layers, "truncate": True, "truncation_direction": "Right"}
    ranks = client.post("/rerank", json=asked).json()
    expected = plain(embedder, QUERY, DOCUMENTS, layers)
    assert [set(rank) for rank in ranks] == [{"index", "score"}] * 4
    for rank in ranks:
        assert rank["score"] == pytest.approx(expected[rank["index"]], abs=1e-6)
    assert [rank["score"] for rank in ranks] == sorted((rank["score"] for rank in ranks), reverse=True)
    raw = client.post("/rerank", json=asked | {"raw_scores": True, "return_text": True}).json()
    for rank, sum_of in zip(ranks, raw, strict=True):
        assert sum_of["score"] == pytest.approx(2 * rank["score"], abs=1e-6)
        assert sum_of["text"] == DOCUMENTS[rank["index"]]


def test_equal_documents_keep_their_order_and_an_empty_one_has_score_0(client):
    results = client.post("/rerank", json={"query": QUERY, "documents": ["a", "", "the cat", "a"]}).json()["results"]
    assert next(row for row in results if row["index"] == 1)["relevance_score"] == 0
    places = [row["index"] for row in results]
    assert places.index(0) + 1 == places.index(3)


@pytest.mark.parametrize(
    ("changed", "param", "said"),
    [
        ({"documents": None}, "documents", "this one has neither"),
        ({"texts": ["a"]}, "documents", "this one has both"),
        ({"documents": []}, "documents", "documents is an empty list"),
        ({"documents": [3]}, "documents", "documents[0]"),
        ({"documents": [{"title": "a"}]}, "documents", "`text`"),
        ({"documents": ["a"] * 2049}, "documents", "at most 2,048"),
        ({"query": ""}, "query", "query has no tokens"),
        ({"layers": "all"}, "layers", "one vector a token"),
        ({"layers": 9}, None, "layer"),
        ({"top_n": 0}, "top_n", ">= 1"),
        ({"model": "gpt"}, "model", "no model 'gpt'"),
        ({"rank_fields": ["title"]}, None, "rank_fields"),
    ],
)
def test_what_cannot_be_answered_is_refused(client, changed, param, said):
    answer = client.post("/rerank", json={"query": QUERY, "documents": DOCUMENTS} | changed)
    assert answer.status_code in (400, 404)
    error = answer.json()["error"]
    assert said in error["message"]
    assert error["param"] == param


@pytest.mark.filterwarnings("ignore")  # the client's own
@pytest.mark.parametrize("name", ["ClientV2", "Client"])
def test_coheres_client_gets_documents_in_their_order(live, embedder, name):
    library = pytest.importorskip("cohere")
    client = getattr(library, name)(api_key="none", base_url=live.url)
    expected = plain(embedder, QUERY, DOCUMENTS)
    found = client.rerank(model="tiny", query=QUERY, documents=DOCUMENTS, top_n=2).results
    assert [row.index for row in found] == np.argsort(-np.array(expected))[:2].tolist()
    assert found[0].relevance_score == pytest.approx(max(expected), abs=1e-6)
