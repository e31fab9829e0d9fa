"""`elmo plot` as it is typed."""

import json

import pytest

from elmo.cli.verbs.plot import main
from elmo.errors import ConfigError, OutputError


def test_a_figure_is_drawn_and_not_overwritten(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    run, figure = tmp_path / "run", tmp_path / "curves.svg"
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"batch_size": 4, "unroll_steps": 5, "log_every": 1}))
    (run / "metrics.jsonl").write_text('{"step": 1, "loss": 5.0}\n{"step": 2, "loss": 4.0}\n')
    assert main([str(run), str(run), "-o", str(figure)]) == 0
    assert capsys.readouterr().out == f"{figure}\n"
    assert figure.read_bytes().startswith(b"<?xml")
    with pytest.raises(OutputError, match="--force"):
        main([str(run), "-o", str(figure)])
    assert main([str(run), "-o", str(figure), "--force", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_a_folder_that_is_no_run_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="it is not a run folder"):
        main([str(tmp_path), "-o", str(tmp_path / "a.png")])
