"""Who may ask: hosts, foreign pages, keys."""

import pytest

from elmo.errors import ConfigError
from elmo.serve.settings import ServeSettings

KEYS = ["a-key-of-this-server", "another-key-of-this-server"]


@pytest.mark.parametrize("host", ["testserver", "TestServer:8000", "testserver:1"])
def test_the_servers_own_names_are_answered(client, host):
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "testserver.evil.example", "testserver:", "testserver:x", ":80", "[::1", "te\xffst", "*"],
)
def test_other_names_are_refused_on_every_path(client, host):
    for path in ("/health", "/v1/models", "/nothing"):
        answer = client.get(path, headers={b"Host": host.encode("latin-1")})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_host")
        assert "--allowed-hosts" in answer.json()["error"]["message"]


def test_any_name_is_answered_if_all_are_allowed_in_a_list(new_client):
    assert new_client(hosts=["*"]).get("/health", headers={"Host": "evil.example"}).status_code == 200
    with pytest.raises(ConfigError, match="hosts must be a list of names"):
        ServeSettings(hosts="example.org")


@pytest.mark.parametrize("host", ["[::1]", "::1", "0:0::1"])
def test_an_address_of_version_6_has_brackets_in_requests(new_client, host):
    client = new_client(hosts=[host])
    assert client.get("/health", headers={"Host": "[::1]:8000"}).status_code == 200
    assert client.get("/health", headers={"Host": "[::1]"}).status_code == 200


def test_another_sites_page_may_link_but_neither_ask_nor_read(client):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for method in ("GET", "POST"):
        answer = client.request(method, "/v1/models", headers=foreign | {"Sec-Fetch-Mode": "cors"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cross_site")
    navigating = foreign | {"Sec-Fetch-Mode": "navigate"}
    assert client.get("/v1/models", headers=navigating).status_code == 200
    assert client.post("/v1/embeddings", json={"input": "a"}, headers=navigating).status_code == 403
    answer = client.get("/v1/models", headers={"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("key", KEYS)
def test_each_key_opens_the_server_and_is_not_shown(new_client, key):
    client = new_client(api_keys=KEYS)
    assert client.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert key not in repr(client.app.state.service.settings)
    assert client.get("/v1/models", headers={"Authorization": f"bearer  {key}"}).status_code == 200


@pytest.mark.parametrize(
    "value",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {KEYS[0]}", KEYS[0], f"Bearer {KEYS[0]}x", "Bearer \xff"],
)
def test_without_a_right_key_nothing_is_answered_but_health_and_ready(new_client, value):
    client = new_client(api_keys=KEYS)
    headers = {} if value is None else {b"Authorization": value.encode("latin-1")}
    for path in ("/v1/models", "/metrics", "/openapi.json", "/nothing", "/", "/docs", "/v1/models/"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert all(key not in answer.text for key in KEYS)
    assert client.get("/health", headers=headers).status_code == 200
