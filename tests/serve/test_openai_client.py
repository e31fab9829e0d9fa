"""OpenAI's own Python package against a real server."""

from collections.abc import Iterator

import numpy as np
import openai
import pytest

TEXTS = ["The cat sat .", "on the mat", "밥을 먹었다"]


@pytest.fixture
def client(live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_vectors_are_the_librarys_bit_for_bit(client, embedder):
    """The package asks for base64 unless it is told otherwise, and gives numbers."""
    expected = embedder.embed([text.split() for text in TEXTS], "average", pool="mean")
    answer = client.embeddings.create(model="tiny", input=TEXTS)
    assert np.array_equal(np.array([row.embedding for row in answer.data], np.float32), expected)
    assert (answer.model, answer.usage.prompt_tokens) == ("tiny", 9)
    (row,) = client.embeddings.create(model="tiny", input=TEXTS[0], encoding_format="float").data
    assert np.array_equal(np.array(row.embedding, np.float32), expected[0])


def test_our_own_fields_are_passed_as_extra_ones(client, embedder):
    (row,) = client.embeddings.create(model="tiny", input="The cat", extra_body={"layers": "top", "pool": "max"}).data
    assert np.array_equal(np.array(row.embedding, np.float32), embedder.embed(["The cat"], "top", pool="max")[0])
