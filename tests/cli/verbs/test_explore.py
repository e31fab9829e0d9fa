"""`elmo explore`: what it does without a browser."""

from pathlib import Path

import pytest

from elmo.cli.main import main

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def command(model_folder, tmp_path, monkeypatch) -> list[str]:
    """Without the folder of the export."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "text.txt").write_text("the bank was steep\nthe bank lent money\n" * 10, encoding="utf-8")
    return ["explore", "--model", str(model_folder), "--text", str(tmp_path / "text.txt"), "--quiet", "--export"]


def test_a_page_is_exported_into_a_new_folder_with_a_text_of_ones_own_only_if_one_says_so(command, tmp_path, capsys):
    command = [*command, str(tmp_path / "page")]
    assert main(command) == 2
    assert "every visitor could read it. Add --publish-text" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()
    command.append("--publish-text")
    assert main(command) == 0
    assert (tmp_path / "page/model/text.txt").read_text("utf-8").startswith("the bank was steep\nthe bank lent money\n")
    assert capsys.readouterr().out == f"{tmp_path / 'page' / 'index.html'}\n"
    assert {it.name for it in (tmp_path / "page").iterdir()} == {"index.html", "elmo", "model", "SOURCES.tsv"}
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_a_page_is_exported_as_one_file(command, tmp_path, capsys):
    command = [*command[:-1], "--single-file", str(tmp_path / "page.html"), "--publish-text"]
    assert main(command) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'page.html'}\n"
    page = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="file model/model.safetensors"' in page and "connect-src" not in page.partition("</head>")[0]
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_model_is_called_like_its_folder_however_that_is_written(command, model_folder, tmp_path, monkeypatch):
    (model_folder / "inside").mkdir()
    monkeypatch.chdir(model_folder / "inside")
    command[command.index("--model") + 1] = ".."
    assert main([*command, "page", "--publish-text"]) == 0
    assert {path.name for path in Path("page/model").iterdir()} >= {"config.json", "model.safetensors", "text.txt"}
    assert [path.name for path in Path().iterdir()] == ["page"]


def test_a_page_holds_so_much_of_a_text_as_a_browser_reads_unless_one_asks_for_more(
    command, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("elmo.explorer.exported.MOST_TOKENS", 20)
    assert main([*command, str(tmp_path / "page"), "--publish-text"]) == 0
    assert len((tmp_path / "page/model/text.txt").read_text("utf-8").split()) == 20
    assert main([*command, str(tmp_path / "more"), "--publish-text", "--tokens", "40"]) == 2
    assert "a browser would take minutes" in capsys.readouterr().err


def test_a_model_that_no_browser_computes_is_refused_before_its_text_is_embedded(
    command, model_folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("elmo.explorer.texts.ExploredText.index", lambda *_: pytest.fail("it was embedded"))
    (model_folder / "model.safetensors").rename(model_folder / "weights.safetensors")
    assert main([*command, str(tmp_path / "page"), "--publish-text"]) == 2
    assert "model.safetensors" in capsys.readouterr().err
