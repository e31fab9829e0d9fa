"""The process: its address, its keys, its signals and its end."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.serve.conftest import running

import elmo
from elmo.errors import ConfigError
from elmo.serve.access import read_keys
from elmo.serve.app import create_app
from elmo.serve.listening import Server, bound, is_loopback, url
from elmo.serve.settings import ServeSettings

SOURCE = Path(elmo.__file__).parents[1]


def test_an_address_that_is_taken_or_none_is_refused():
    with bound("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert url(taken) == f"http://127.0.0.1:{port}"
        with pytest.raises(ConfigError, match=f"can't listen on 127.0.0.1 port {port}: Address already in use"):
            bound("127.0.0.1", port)
    for host, number in (
        ("256.0.0.1", 0),
        ("no such host", 0),
        ("a" * 300, 0),
        ("127.0.0.1", 65_536),
        ("127.0.0.1", -1),
    ):
        with pytest.raises(ConfigError):
            bound(host, number)


def test_an_address_of_version_6_is_written_in_brackets():
    try:
        listening = bound("::1", 0)
    except ConfigError:
        pytest.skip("this machine has no IPv6")
    with listening:
        assert url(listening).startswith("http://[::1]:")
        assert is_loopback(listening)


def test_only_with_a_key_can_other_machines_reach_it(models):
    key = ["a-key-of-this-server"]
    with bound("0.0.0.0", 0) as listening:
        with pytest.raises(ConfigError, match="can reach 0.0.0.0, but no API key is set"):
            Server(create_app(models), listening)
        Server(create_app(models, ServeSettings(api_keys=key)), listening)


def test_a_file_of_keys_has_one_in_each_line(tmp_path):
    path = tmp_path / "keys"
    path.write_text("# ours\n  a-key-of-this-server \n\nanother-key-of-this-server\r\n")
    assert read_keys(path) == ("a-key-of-this-server", "another-key-of-this-server")
    for content in ("", "# none\n"):
        path.write_text(content)
        with pytest.raises(ConfigError, match="has no keys"):
            read_keys(path)


def test_what_is_being_answered_is_finished_before_the_server_ends(models, hold):
    answers = []
    with running(models) as live:
        began, go_on = hold()
        service = live.app.state.service
        # One is being computed, and one waits behind it.
        clients = [
            threading.Thread(target=lambda text=text: answers.append(asked(live.url, text))) for text in ("the", "cat")
        ]
        clients[0].start()
        assert began.wait(20)
        before = service.batcher.queued_tokens
        clients[1].start()
        while service.batcher.queued_tokens <= before:
            time.sleep(0.005)
        live.server.should_exit = True
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:  # until it accepts no more
            with socket.socket() as late:
                if late.connect_ex(live.address):
                    break
            time.sleep(0.01)
        assert service.is_stopping
        go_on.set()
    for client in clients:
        client.join(30)
    assert [answer.status_code for answer in answers] == [200, 200]


def test_a_text_that_takes_long_does_not_hold_up_the_end(models, hold, capfd):
    answers = []
    with running(models) as live:
        began, go_on = hold()
        client = threading.Thread(target=lambda: answers.append(asked(live.url, "the cat")))
        client.start()
        assert began.wait(20)
        live.server.should_exit = live.server.force_exit = True  # as a second Ctrl-C does
        live.thread.join(10)
        has_ended = not live.thread.is_alive()
        go_on.set()
        client.join(30)
    assert has_ended
    assert answers[0].json()["error"]["code"] == "stopping"
    assert "Traceback" not in capfd.readouterr().err


def asked(place: str, text: str) -> httpx.Response:
    return httpx.post(f"{place}/v1/embeddings", json={"input": text}, timeout=30, trust_env=False)


class Process:
    """`elmo serve` as a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        code = "import sys; from elmo.cli.main import main; sys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, "serve", "--port", "0", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()
        self.url = self.first_line.split()[-1]

    def ended(self, timeout: float = 30) -> tuple[int, str]:
        """The exit code, and the rest of what it said."""
        _, rest = self.process.communicate(timeout=timeout)
        return self.process.returncode, rest


@pytest.fixture
def process(tmp_path):
    started = []

    def start(*arguments: str) -> Process:
        started.append(Process(tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_finish_and_ends_with_0(process, number):
    running = process("small-en")
    assert running.first_line.startswith("serving small-en on http://127.0.0.1:")
    answers = []
    body = {"input": [["word"] * 500] * 2, "encoding_format": "base64"}

    def ask() -> None:
        answers.append(httpx.post(f"{running.url}/v1/embeddings", json=body, timeout=60, trust_env=False))

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    while httpx.get(f"{running.url}/metrics", trust_env=False).text.count("\nelmo_queued_tokens 0.0"):
        time.sleep(0.005)
    time.sleep(0.2)  # until all four have been read
    running.process.send_signal(number)
    for client in clients:
        client.join(60)
    assert running.ended() == (0, "")
    assert [answer.status_code for answer in answers] == [200] * 4


@pytest.mark.slow
def test_a_killed_server_leaves_its_port_free(process):
    running = process("small-en")
    port = running.url.rpartition(":")[2]
    with socket.create_connection(("127.0.0.1", int(port))):
        running.process.kill()
        running.ended()
    again = process("small-en", "--port", port)
    assert again.url == running.url
    assert httpx.get(f"{again.url}/health", trust_env=False).json() == {"status": "ok"}


@pytest.mark.slow
def test_flags_reach_the_server(process, tmp_path):
    (tmp_path / "keys").write_text("a-key-of-this-server\n")
    flags = ["--host", "0.0.0.0", "--api-key-file", "keys", "--allowed-hosts", "example.org", "--max-inputs", "2"]
    running = process(*flags, "--tokenizer", "whitespace", "--dtype", "auto")
    place = running.url.replace("0.0.0.0", "127.0.0.1")
    key = {"Authorization": "Bearer a-key-of-this-server"}
    assert httpx.get(f"{place}/v1/models", trust_env=False).status_code == 401
    path, headers = f"{place}/v1/token_embeddings", key | {"Host": "example.org"}
    answer = httpx.post(path, json={"input": "the mat."}, headers=headers, trust_env=False, timeout=30)
    assert answer.json()["data"][0]["tokens"] == ["the", "mat."]
    answer = httpx.post(path, json={"input": ["a", "b", "c"]}, headers=headers, trust_env=False)
    assert "more than 2. Send several" in answer.json()["error"]["message"]
    assert httpx.get(f"{place}/health", headers={"Host": "example.com"}, trust_env=False).status_code == 400
