"""openapi.json says what the server does: made from the types, and tried with thousands of requests made from it."""

import os

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from elmo.serve.operations import OPERATIONS, openapi
from elmo.serve.routes.embeddings import EmbeddingsRequest

CASES = int(os.environ.get("ELMO_TEST_HTTP_CASES", "40"))
"""Requests for each operation; the figures in benchmarks/ are of runs with more."""


def test_it_is_served_as_it_is_made(client):
    assert client.get("/openapi.json").json() == openapi()


def test_every_operation_and_all_its_types_are_in_it(client):
    document = openapi()
    assert {(path, method.upper()) for path, methods in document["paths"].items() for method in methods} == {
        (operation.path, operation.method) for operation in OPERATIONS
    }
    text = msgspec.json.encode(document).decode()
    names = {reference.split('"')[0] for reference in text.split('"#/components/schemas/')[1:]}
    assert names == set(document["components"]["schemas"])


def test_the_schema_has_every_field_and_refuses_others():
    schema = openapi()["components"]["schemas"]["EmbeddingsRequest"]
    assert list(schema["properties"]) == list(EmbeddingsRequest.__struct_fields__)
    assert (schema["required"], schema["additionalProperties"]) == (["input"], False)
    assert all("Any" not in repr(value) for value in schema["properties"].values())


@pytest.mark.slow
def test_requests_made_from_the_schema_are_answered_as_it_says(live):
    """No 5xx, no undocumented status or type, no body that the schema doesn't describe, no bad request accepted."""
    import schemathesis
    from schemathesis import checks

    chosen = [
        checks.not_a_server_error,
        checks.load_all_checks() or checks.CHECKS.get_one("status_code_conformance"),
        *checks.CHECKS.get_by_names(
            ["content_type_conformance", "response_schema_conformance", "negative_data_rejection", "unsupported_method"]
        ),
    ]
    schema = schemathesis.openapi.from_url(f"{live.url}/openapi.json")
    schema.config.generation.update(modes=list(schemathesis.GenerationMode))
    tried = []
    for operation in (result.ok() for result in schema.get_all_operations()):

        @given(case=operation.as_strategy())
        @settings(max_examples=CASES, suppress_health_check=list(HealthCheck), database=None)
        def check(case):
            response = case.call()
            case.validate_response(response, checks=chosen)
            tried.append(response.status_code)

        check()
    assert len(tried) >= len(OPERATIONS)
    assert {200, 400} <= set(tried)
