"""`elmo models` as it is typed."""

import json

import pytest

from elmo.cli.verbs.models import main
from elmo.weights import catalogue


@pytest.fixture
def bundled(tmp_path, monkeypatch):
    """An installation whose bundled models, and whose cache, lie in a folder of the test."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "_BUNDLED", tmp_path)
    return tmp_path


def test_json_tells_all_that_is_known(bundled, capsys):
    assert main(["--json"]) == 0
    models = {facts["name"]: facts for facts in json.loads(capsys.readouterr().out)}
    assert set(models) == set(catalogue.known_models())
    assert models["original"]["parameters"] == 93_600_848
    assert models["original"]["folder"] is None
    assert models["small-en"]["bundled"] is True
    assert models["seqvec"]["archive"] == "https://rostlab.org/~deepppi/seqvec.zip"
    assert "2026-11-25" in models["seqvec"]["source"]
    assert models["seqvec"]["seen_sha256"] == {}
    (bundled / "cache" / "seen").mkdir(parents=True)
    (bundled / "cache" / "seen" / "seqvec.json").write_text('{"seqvec.zip": "ab"}')
    assert main(["--json"]) == 0
    models = {facts["name"]: facts for facts in json.loads(capsys.readouterr().out)}
    assert models["seqvec"]["seen_sha256"] == {"seqvec.zip": "ab"}


def test_the_table_parts_what_is_here_from_what_is_only_known(bundled, capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("ready to use (pass the name): none\n")
    (bundled / "small-en").mkdir()
    (bundled / "small-en" / "config.json").write_text("{}")
    assert main([]) == 0
    ready, _, known = capsys.readouterr().out.partition("\n\n")
    assert "small-en" in ready
    assert "original" not in ready
    assert "original-5.5B    93.6 M  allennlp" in known
    assert "many-langs/CODE" in known
    assert known.index("nlpl:NUMBER") < known.index("known, but without an address") < known.index("bioelmo")
    assert "small-en" not in known
