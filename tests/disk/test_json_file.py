"""JSON files that runs write and read: whole or not at all, and logs without the lines that were damaged."""

import json

import pytest

from elmo.disk.json_file import read_record, read_records, read_toml, write_json
from elmo.errors import ConfigError, OutputError


def test_a_log_is_read_without_its_damaged_lines(tmp_path):
    whole = [{"step": 1, "loss": 2.5}, {"step": 2, "evaluation": "valid"}]
    of_no_step = ['{"loss": 1.0}', '{"step": null}', '{"step": "4"}', '{"step": true}']
    damaged = ["", '{"step": 3, "lo', "3", "[1]", "{}", *of_no_step]
    lines = [json.dumps(whole[0]), *damaged, json.dumps(whole[1]), '{"step": 5']
    (tmp_path / "metrics.jsonl").write_bytes("\n".join(lines).encode() + b"\n\xff\xfe")
    found = list(read_records(tmp_path / "metrics.jsonl", "step"))
    assert [values for _, values in found] == whole
    assert [json.loads(text) for text, _ in found] == whole
    assert list(read_records(tmp_path / "metrics.jsonl", "epoch")) == []
    assert list(read_records(tmp_path / "none.jsonl", "step")) == []


def test_what_is_written_is_read_and_replaced_whole(tmp_path):
    path = tmp_path / "run.json"
    for values in ({"text": "밥", "file": "a\udcff"}, {"filters": [[1, 2]]}):
        write_json(path, values)
        assert read_record(path) == values
    with pytest.raises(TypeError):
        write_json(path, {"bad": object()})
    assert read_record(path) == {"filters": [[1, 2]]}
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError):
        write_json(tmp_path / "folder", {})
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "run.json"]


def test_what_cant_be_read_is_not_called_damaged(tmp_path):
    with pytest.raises(ConfigError, match=r"^\S+none\.json: there is no such file\. "):
        read_record(tmp_path / "none.json")
    (tmp_path / "run.json").write_text("{}" * 9)
    with pytest.raises(ConfigError, match=r"^\S+run\.json: can't be read: it has more than 9 bytes"):
        read_record(tmp_path / "run.json", limit=9)


def test_a_number_of_too_many_digits_is_no_toml(tmp_path):
    (tmp_path / "run.toml").write_text("seed = " + "9" * 5000)
    with pytest.raises(ConfigError, match=r"run\.toml: is not a TOML file"):
        read_toml(tmp_path / "run.toml")
