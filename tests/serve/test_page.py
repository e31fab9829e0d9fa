"""docs/serving.md: its code runs against a server, its commands are right, its tables say what the settings are."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serve.conftest import running

from elmo.cli.verbs.serve import Arguments
from elmo.serve import encodings
from elmo.serve.models import ServedModel
from elmo.serve.operations import OPERATIONS
from elmo.serve.routes.embeddings import _MOST_JSON_NUMBERS
from elmo.serve.settings import ServeSettings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
ADDRESS = "http://localhost:8000"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


CLIENTS = [block for block in blocks("python") if ADDRESS in block]


@pytest.fixture(scope="module")
def small() -> ServedModel:
    return ServedModel.load("small-en")


def test_the_page_has_clients_and_an_app_of_ones_own():
    assert len(CLIENTS) == 4
    assert len(blocks("python")) == 5


@pytest.mark.filterwarnings("ignore")  # the libraries' own: they leave connections open
@pytest.mark.parametrize("code", CLIENTS, ids=range(len(CLIENTS)))
def test_the_code_of_a_client_runs(small, code, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    with running([small]) as live:
        exec(compile(code.replace(ADDRESS, live.url), "serving.md", "exec"), {"__name__": "page"})


def test_the_first_request_is_answered(small):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    (command,) = blocks("bash")
    with running([small]) as live:
        called = ["bash", "-c", command.replace(ADDRESS, live.url).replace("curl ", "curl -sS --noproxy '*' ")]
        done = subprocess.run(called, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith('{"data":[{"index":0,"embedding":['), done.stderr


def test_an_app_of_ones_own_answers():
    (code,) = (block for block in blocks("python") if "create_app" in block)
    names: dict = {"__name__": "page"}
    exec(compile(code, "serving.md", "exec"), names)
    with TestClient(names["app"], base_url=ADDRESS) as client:
        answer = client.post("/norms", json={"text": "The bank."})
    assert (answer.status_code, len(answer.json())) == (200, 3), answer.text


def test_the_commands_are_read_without_complaint(monkeypatch):
    import tyro

    (service,) = re.findall(r"^ExecStart=\S+/(elmo .*)$", PAGE, flags=re.MULTILINE)
    inline = re.findall(r"`(elmo serve [^`]*--port[^`]*)`", PAGE)
    assert len(inline) == 1
    for line in (service, *inline):
        assert shlex.split(line)[1] == "serve"
        tyro.cli(Arguments, args=shlex.split(line)[2:])


def test_every_path_and_type_is_on_the_page():
    for operation in OPERATIONS:
        assert f"`{operation.method} {operation.path}`" in PAGE
    for media_type in encodings.VECTORS:
        assert f"`{media_type}`" in PAGE


def test_the_limits_are_those_of_the_settings():
    settings = ServeSettings()
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    for value in (settings.max_body_bytes, settings.max_tokens, settings.max_queued_tokens, _MOST_JSON_NUMBERS):
        assert f" {value:,} " in rows
    assert f"| {settings.max_inputs:,} |" in rows
    assert f"| {settings.deadline_seconds:g} s |" in rows
    assert f"within {settings.body_seconds:g} s" in rows
