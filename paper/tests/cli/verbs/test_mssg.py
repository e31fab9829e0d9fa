"""`elmo-paper mssg` as it is typed."""

import json

import pytest

from elmo_paper.cli.verbs.mssg import main
from elmo_paper.mssg.senses import read_sense_vectors


@pytest.mark.parametrize("senses", [["--senses", "2"], ["--new-sense-below", "0.9"]])
def test_a_text_becomes_vectors_of_senses(tmp_path, capsys, senses):
    text, output = tmp_path / "text.txt", tmp_path / "senses.txt"
    text.write_text("강가 은행 에 앉았다\n은행 에서 돈 을 빌렸다\n" * 30, encoding="utf-8")
    command = [str(text), "-o", str(output), "--dim", "6", "--subsample", "0", *senses]
    assert main([*command, "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    found = read_sense_vectors(output)
    assert report["words"] == len(found.static) == 8 and report["senses"] == len(found.vectors) > 8
    assert len(found.rows("은행")) >= 2
    assert main([*command, "--force"]) == 0
    assert f"8 words with {report['senses']} senses of dimension 6, from 270 tokens" in capsys.readouterr().out
