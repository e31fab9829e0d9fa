"""Thousands of requests made from openapi.json, valid ones and broken ones, against a running `elmo serve`.

    python benchmarks/serve_schema.py --cases 10000

schemathesis makes them; half of the cases, as it decides, break the schema on purpose. What must happen: no status of
5xx, none that openapi.json doesn't name, the media type and the body that it describes, and no broken request accepted.
"""

import sys
import urllib.request
from collections import Counter

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
    arguments.add_argument("--cases", type=int, default=10_000, help="of all operations together")
    given = arguments.parse_args()
    rows, failures = [], []
    with served(given.model) as server:
        _load_softmax(server)
        operations = _operations(server)
        for name, operation in operations:
            statuses, wrong = _tried(name, operation, given.cases // len(operations))
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
            response = case.call()
            statuses[response.status_code] += 1
            case.validate_response(response, checks=chosen)

        try:
            check()
        except Exception as error:  # a failed check, or a group of them: all of them belong in the record
            wrong.append(f"{name}, seed {number}: {error}")
        print(f"{name}: {sum(statuses.values()):,} of {cases:,}, {len(wrong)} wrong", file=sys.stderr, flush=True)
    return statuses, wrong


def _told(statuses: Counter[int]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))


if __name__ == "__main__":
    raise SystemExit(main())
