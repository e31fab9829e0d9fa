"""Thousands of requests made from openapi.json, valid ones and broken ones, against a running `elmo serve`.

    python benchmarks/serving/serve_schema.py --cases 10000

schemathesis makes them, and breaks the schema on purpose in some. Of the others half are given the name of no model
and a place within their text, because a random name is always refused. What must happen: no status of 5xx, none that
openapi.json doesn't name, the media type and the body that it describes, and no broken request accepted. GET requests
have no body, so a few cases of each are all there are.
"""

import random
import sys
import urllib.request
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from record import Record, Table, parser
from schemathesis import checks
from serve_client import Server, served

_AT_A_TIME = 250
CHECKS = [
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
]


def main() -> int:
    """Runs the cases and writes the record; exit code 1 if one was answered wrongly."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--cases", type=int, default=10_000, help="of all POST operations together")
    given = arguments.parse_args()
    rows, failures = [], []
    with served(given.model) as server:
        _load_softmax(server)
        operations = _operations(server)
        posts = sum(name.startswith("POST") for name, _ in operations)
        for name, operation in operations:
            statuses, wrong = _tried(name, operation, -(-given.cases // posts))
            rows.append((name, f"{sum(statuses.values()):,}", _told(statuses), len(wrong)))
            failures += wrong
    for failure in failures:
        print(failure, file=sys.stderr)
    columns = ["operation", "cases", "statuses", "wrong answers"]
    sentence = (
        f"{sum(int(row[1].replace(',', '')) for row in rows):,} requests made from openapi.json with schemathesis "
        f"{schemathesis.__version__}: {len(failures)} kinds of wrong answers (target: 0)."
    )
    Record("serve-schema", "Requests made from the schema", [Table(columns, rows)], sentence).write(given.results)
    return int(bool(failures))


def _load_softmax(server: Server) -> None:
    """Asks once for substitutes, so that no case waits for torch."""
    body = b'{"input": "the [cat] sat"}'
    asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/v1/substitutes", body)
    asked.add_header("Content-Type", "application/json")
    urllib.request.urlopen(asked, timeout=120).read()


def _operations(server: Server) -> list[tuple[str, schemathesis.schemas.APIOperation]]:
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    schema.config.generation.update(modes=list(schemathesis.GenerationMode))
    found = [result.ok() for result in schema.get_all_operations()]
    return [(f"{operation.method.upper()} {operation.path}", operation) for operation in found]


def _tried(name: str, operation: schemathesis.schemas.APIOperation, cases: int) -> tuple[Counter[int], list[str]]:
    """Statuses of so many cases, and what was wrong."""
    checks.load_all_checks()
    chosen = [checks.not_a_server_error, *checks.CHECKS.get_by_names(CHECKS)]
    statuses: Counter[int] = Counter()
    wrong = []
    random.seed(0)
    for number in range(-(-cases // _AT_A_TIME)):

        @seed(number)
        @given(case=operation.as_strategy())
        @settings(
            max_examples=min(_AT_A_TIME, cases - number * _AT_A_TIME),
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        def check(case: schemathesis.Case) -> None:
            if case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE and random.random() < 0.5:
                _make_sensible(case.body)
            response = case.call()
            statuses[response.status_code] += 1
            case.validate_response(response, checks=chosen)

        try:
            check()
        except Exception as error:  # a failed check, or a group of them: all of them belong in the record
            wrong.append(f"{name}, seed {number}: {error}")
        print(f"{name}: {sum(statuses.values()):,} of {cases:,}, {len(wrong)} wrong", file=sys.stderr, flush=True)
    return statuses, wrong


def _make_sensible(body: object) -> None:
    """The default model, and a place that is there; what else is random stays so."""
    if isinstance(body, dict):
        body.pop("model", None)
        if "place" in body:
            text = body.get("input")
            tokens = text if isinstance(text, list) else str(text).split()
            body["place"] = random.randrange(max(1, len(tokens)))


def _told(statuses: Counter[int]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))


if __name__ == "__main__":
    raise SystemExit(main())
