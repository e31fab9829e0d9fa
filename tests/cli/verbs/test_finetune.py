"""`elmo finetune` as it is typed."""

import json
from dataclasses import replace

import pytest

from elmo.cli.verbs.finetune import main
from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.weights.native.write import write as write_checkpoint


@pytest.fixture
def arguments(tmp_path, model_folder, language_model):
    """--model M --data DATA -o RUN --old TEXT and a few settings."""
    tensors = {name: array / 4 for name, array in language_model.tensors.items()}
    write_checkpoint(replace(language_model, tensors=tensors), model_folder, force=True)
    text = tmp_path / "text.txt"
    text.write_text("the bank was steep .\nthe steep bank\n" * 10, encoding="utf-8")
    prepare([text], tmp_path / "data", CorpusSettings(vocabulary=model_folder / "vocab.txt"), valid=[text])
    words = ["--model", str(model_folder), "--data", str(tmp_path / "data"), "-o", str(tmp_path / "run")]
    return [*words, "--old", str(text), "--batch-size", "2", "--unroll-steps", "4", "--log-every", "1"]


def test_json_equals_the_file_of_the_run(tmp_path, arguments, capsys):
    assert main([*arguments, "--quiet", "--json", "--learning-rate", "0.01"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("model") == str(tmp_path / "run" / "model")
    assert told == json.loads((tmp_path / "run" / "perplexities.json").read_text())
    assert set(told["before"]) == {"valid", "old"}
    recipe = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (recipe["learning_rate"], recipe["batch_size"], recipe["cell_size"]) == (0.01, 2, 6)
    assert recipe["epochs"] == 1.0


def test_data_that_the_model_will_not_understand_are_pointed_out(tmp_path, arguments, model_folder, capsys):
    text = tmp_path / "ko.txt"
    text.write_text("나는 [PAD] 어제 학교에서 친구를 만났다\n나는 어제 만났다\n" * 10, encoding="utf-8")
    prepare([text], tmp_path / "ko", CorpusSettings(vocabulary=model_folder / "vocab.txt"), valid=[text])
    arguments[3] = str(tmp_path / "ko")
    assert main([*arguments, "--quiet"]) == 0
    told = capsys.readouterr().err
    assert "ko has [PAD], special tokens of other models" in told
    assert "ko is not in the model's language" in told
    assert "--vocabulary of a model of its language" in told


def test_the_table_compares_and_a_finished_run_resumes_to_the_same(tmp_path, arguments, capsys):
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "validation perplexity" in told.err
    rows = [line.split() for line in told.out.splitlines()[2:]]
    assert rows[0] == ["perplexity", "before", "after", "change"]
    assert [row[:2] for row in rows[1:]] == [
        [name, direction] for name in ("valid", "old") for direction in ("forward", "backward", "mean")
    ]
    before, after, change = float(rows[3][2]), float(rows[3][3]), float(rows[3][4].rstrip("%"))
    assert change == pytest.approx(100 * (after / before - 1), abs=0.3)
    assert main(["--data", str(tmp_path / "data"), "-o", str(tmp_path / "run"), "--resume"]) == 0
    assert capsys.readouterr().out == told.out
