"""`elmo serve`: what it refuses before it listens; tests/serve runs it."""

import pytest

from elmo.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0", "--port", "0"], "can reach 0.0.0.0, but no API key is set"),
        (["--port", "65536"], "port must be a whole number from 0 to 65,535 (got 65536)"),
        (["--port", "0", "--api-key-file", "nowhere"], "nowhere: No such file"),
        (["--port", "0", "--api-key-file", "empty"], "empty: has no keys"),
        (["--port", "0", "--api-key-file", "weak"], "shorter than 16 characters"),
        (["--port", "0", "--max-tokens", "0"], "max_tokens must be at least 1 (got 0)"),
        (["--port", "0", "--tokenizer", "none"], "no tokenizer 'none'"),
        (["no-such-model", "--port", "0"], "no-such-model: there is no such file"),
        (["small-en", "small-en", "--port", "0"], "two models have the same name (small-en, small-en)"),
    ],
)
def test_what_cannot_be_served_is_refused_with_exit_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "weak").write_text("secret\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("elmo.serve.listening.run", lambda *_, **__: pytest.fail("it listens"))
    assert main(["serve", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_without_its_libraries_it_names_the_extra(monkeypatch, capsys):
    monkeypatch.setattr("elmo.cli.verbs.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    assert main(["serve"]) == 2
    assert "pip install 'pyelmo[serve]'" in capsys.readouterr().err
