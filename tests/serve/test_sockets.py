"""A real server and bare sockets: what goes over the wire, and clients that are slow, rude or gone."""

import base64
import json
import time

import numpy as np
import pytest
from tests.serve.conftest import running

from elmo.serve.listening import MAX_CONNECTIONS
from elmo.serve.settings import ServeSettings

HEADERS = b"Host: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"input": ["the cat sat", "no"], "encoding_format": "base64"}).encode()


def post(body: bytes, *, headers: bytes = b"Connection: close\r\n", path: bytes = b"/v1/embeddings") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST " + path + b" HTTP/1.1\r\n" + HEADERS + length + headers + b"\r\n" + body


def chunked(body: bytes, size: int = 7) -> bytes:
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    lines = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    head = b"POST /v1/embeddings HTTP/1.1\r\n" + HEADERS
    return head + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + lines


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def content(answer: bytes) -> dict:
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def vectors(answer: bytes) -> list[np.ndarray]:
    assert status(answer) == 200, answer
    return [np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in content(answer)["data"]]


@pytest.fixture
def expected(embedder):
    return embedder.embed([["the", "cat", "sat"], ["no"]], "average", pool="mean")


def test_a_bare_socket_gets_the_librarys_vectors(live, expected):
    assert np.array_equal(vectors(live.sent(post(BODY))), expected)
    assert np.array_equal(vectors(live.sent(chunked(BODY))), expected)


def test_one_connection_serves_many_requests_even_sent_at_once(live, expected):
    with live.connected() as connection:
        connection.sendall(post(BODY, headers=b"") * 3 + post(BODY))
        answers = live.received(connection).split(b"HTTP/1.1 ")[1:]
    assert len(answers) == 4
    for answer in answers:
        assert np.array_equal(vectors(b"HTTP/1.1 " + answer), expected)


def test_a_request_may_come_byte_by_byte(live, expected):
    with live.connected() as connection:
        for byte in post(BODY):
            connection.sendall(bytes([byte]))
        assert np.array_equal(vectors(live.received(connection)), expected)


@pytest.mark.parametrize("size", [9_000_000, 30_000_000])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_that_is_too_large_is_told_so_though_the_client_sends_on(live, size, is_chunked):
    body = b" " * size
    request = chunked(body, 65_536) if is_chunked else post(body)
    with live.connected() as connection:
        began = time.monotonic()
        try:
            connection.sendall(request)
        except ConnectionError:
            assert size > 9_000_000  # a client that sends much more than the limit is not listened to forever
        answer = live.received(connection)
    if answer:
        assert (status(answer), content(answer)["error"]["code"]) == (413, "body_too_large")
    else:
        assert size > 9_000_000
    assert time.monotonic() - began < 10


def test_a_declared_length_is_refused_before_any_of_it_comes(live):
    with live.connected() as connection:
        connection.sendall(post(b"").replace(b"Content-Length: 0", b"Content-Length: 9000000"))
        assert status(connection.recv(65_536)) == 413


def test_a_client_that_asks_first_is_told_to_go_on_or_not(live, expected):
    expecting = b"Expect: 100-continue\r\nConnection: close\r\n"
    with live.connected() as connection:
        connection.sendall(post(BODY, headers=expecting).removesuffix(BODY))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(BODY)
        assert np.array_equal(vectors(live.received(connection)), expected)
    with live.connected() as connection:
        connection.sendall(post(b" " * 9_000_000, headers=expecting).rstrip(b" "))
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "wrong", [b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/1.1\r\nHost: " + b"a" * 70_000]
)
def test_what_is_no_http_is_refused(live, wrong):
    assert status(live.sent(wrong)) == 400


def test_http_without_or_with_two_hosts_is_refused(live):
    for head in (
        b"GET /health HTTP/1.1\r\n",
        b"GET /health HTTP/1.0\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n",
    ):
        assert status(live.sent(head + b"Connection: close\r\n\r\n")) == 400


@pytest.mark.parametrize(
    "lengths", [b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: -1", b"Content-Length: 1e3"]
)
def test_contradictory_lengths_are_refused(live, lengths):
    assert status(live.sent(b"POST /v1/embeddings HTTP/1.1\r\n" + HEADERS + lengths + b"\r\n\r\nabcdef")) == 400


def test_a_body_that_does_not_come_is_waited_for_in_vain(models):
    with running(models, ServeSettings(body_seconds=0.2)) as live, live.connected() as connection:
        connection.sendall(post(BODY).removesuffix(BODY[5:]))
        answer = live.received(connection)
        assert (status(answer), content(answer)["error"]["code"]) == (408, "body_timeout")


def test_an_idle_connection_is_closed(live):
    with live.connected() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(live.received(connection)) == 200  # which ends with the connection


def test_good_requests_are_answered_among_hundreds_of_slow_ones(live, expected):
    slow = []
    for number in range(MAX_CONNECTIONS - 20):
        connection = live.connected()
        connection.sendall((b"POST /v1/embeddings HTTP/1.1\r\nHost: loc", post(BODY)[:-5])[number % 2])
        slow.append(connection)
    for _ in range(20):
        assert np.array_equal(vectors(live.sent(post(BODY))), expected)
    for connection in slow:
        connection.close()


def test_requests_on_too_many_connections_are_refused(live):
    silent = [live.connected() for _ in range(MAX_CONNECTIONS)]
    assert status(live.sent(post(BODY))) == 503
    for connection in silent:
        connection.close()


def test_what_a_client_no_longer_waits_for_is_not_computed(live, hold):
    began, go_on = hold()
    batcher = live.app.state.service.batcher
    with live.connected() as first:
        first.sendall(post(b'{"input": "first"}'))
        assert began.wait(20)
        gone = live.connected()
        gone.sendall(post(b'{"input": "gone"}'))
        while batcher.queued_tokens < 2:
            time.sleep(0.005)
        gone.close()
        time.sleep(0.1)  # until the server has seen it
        go_on.set()
        assert status(live.received(first)) == 200
    deadline = time.monotonic() + 10
    while not batcher.counts.dropped and time.monotonic() < deadline:
        time.sleep(0.01)
    assert batcher.counts.dropped == 1


def test_a_full_queue_is_told_with_when_to_come_again(models, hold):
    with running(models, ServeSettings(max_queued_tokens=4)) as live:
        began, go_on = hold()
        with live.connected() as first:
            first.sendall(post(b'{"input": "the cat sat"}'))
            assert began.wait(20)
            for texts in (b'"a b"', b'["a", "b"]'):
                answer = live.sent(post(b'{"input": ' + texts + b"}"))
                assert (status(answer), content(answer)["error"]["type"]) == (429, "rate_limit_error")
                assert b"\r\nretry-after: 1\r\n" in answer.lower()
            go_on.set()
            assert status(live.received(first)) == 200
