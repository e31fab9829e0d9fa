"""Sentence classification as it is typed."""

from elmo.cli.main import main


def test_a_classifier_that_knows_one_label_only_says_so(tmp_path, capsys):
    train, run = str(tmp_path / "train"), str(tmp_path / "run")
    (tmp_path / "train").write_text("good\ta film\n" * 9 + "bad\tthe film\n")
    data = ["--train", train, "--dev", train, "--encoder", "none"]
    flags = ["--character-filters", "4", "--epochs", "1", "--learning-rate", "1e-6", "--hidden-size", "4"]
    assert main(["task", "train", "sst", *data, *flags, "-o", run, "--quiet"]) == 0
    told = capsys.readouterr().err
    assert "every sentence is given the label" in told
    assert main(["task", "evaluate", run, train]) == 0
    assert "predicted as: 9 " in capsys.readouterr().out
