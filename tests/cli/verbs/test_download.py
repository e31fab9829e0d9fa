"""`elmo download` as it is typed."""

import json

import pytest

from elmo.cli import main as command_line
from elmo.weights.published import fetch, transfer


@pytest.fixture
def asked(tmp_path, monkeypatch) -> list[str]:
    """The addresses that are asked; each gives what its name says."""
    asked = []

    def bring(address, part, *, min_bytes, max_bytes, progress):
        asked.append(address)
        if "mirror" in address:
            raise transfer.Refused("HTTP status 404 (Not Found)")
        part.write_bytes(b"{}" if address.endswith(".json") else b"\x89HDF\r\n\x1a\n")
        progress.show(part.name, 0, 10, "bytes")
        progress.show(part.name, 10, 10, "bytes")

    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "transfer", bring)
    return asked


def test_a_name_becomes_a_folder_and_is_ready_from_then_on(asked, tmp_path, capsys, terminal, on_terminal):
    assert on_terminal(command_line.main, ["download", "small", "--mirror", "https://mirror.example"]) == 0
    said = capsys.readouterr()
    folder = tmp_path / "cache" / "published" / "small"
    assert said.out == f"{folder}\n"
    assert any("weights.hdf5: 100%" in line for line in terminal.screen)
    assert asked[0].startswith("https://mirror.example/small/elmo_2x1024_128_2048cnn_1xhighway_options.json")
    assert asked[1].startswith("https://allennlp.s3.amazonaws.com/models/elmo/2x1024_128_2048cnn_1xhighway/elmo_2x1024")
    assert command_line.main(["download", "small", "--json", "--quiet"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["folder"] == str(folder)
    assert len(facts["files"]) == 2
    assert len(asked) == 4
    assert command_line.main(["models"]) == 0
    ready, _, rest = capsys.readouterr().out.partition("\n\n")
    assert "  small  " in ready
    assert "  small  " not in rest


def test_a_model_of_the_package_is_where_it_is(asked, capsys):
    assert command_line.main(["download", "small-en"]) == 0
    assert capsys.readouterr().out.endswith("bundled/small-en\n")
    assert asked == []
