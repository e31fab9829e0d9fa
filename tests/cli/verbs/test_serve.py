"""`elmo serve`: what it refuses before it listens; tests/serve runs it."""

from elmo.cli.main import main


def test_without_its_libraries_it_names_the_extra(monkeypatch, capsys):
    monkeypatch.setattr("elmo.cli.verbs.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    assert main(["serve"]) == 2
    assert "pip install 'pyelmo[serve]'" in capsys.readouterr().err
