"""`elmo task`: from labelled files to a trained model, its scores, and predictions for text."""

import io
import json
import os
import random
from pathlib import Path

import pytest

from elmo.cli.main import main
from elmo.cli.verbs import task
from elmo.disk import folder_lock
from elmo.process.stop_flag import stop_flag
from elmo.tasks.train import train as train_module

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = ["--hidden-sizes", "8", "--character-filters", "6", "--epochs", "2", "--batch-size", "8", "--dropout", "0.1"]


def written(folder: Path) -> Path:
    """A file of 41 sentences."""
    chance = random.Random(0)
    sentences = []
    for _ in range(40):
        words = [chance.choice(["the O", "saw O", "Anna B-PER", "Rome B-LOC"]) for _ in range(chance.randrange(1, 6))]
        sentences.append("\n".join(words))
    path = folder / "data.conll"
    path.write_text("\n\n".join([*sentences, "the O\nBank B-LOC"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path) -> Path:
    return written(tmp_path)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory) -> str:
    """A model that finds entities, for tests that only use it."""
    folder = tmp_path_factory.mktemp("trained")
    files = ["--train", str(written(folder)), "--dev", str(folder / "data.conll"), "-o", str(folder / "run")]
    flags = [*SMALL, "--encoder", "none", "--epochs", "6", "--learning-rate", "0.03"]
    assert main(["task", "train", "ner", *files, *flags, "--quiet"]) == 0
    return str(folder / "run")


@pytest.fixture
def train(tmp_path, data, model_folder):
    """Trains into a folder of that name, with ELMo from the tiny model; more flags win."""

    def run(name: str, *flags: str) -> int:
        files = ["--train", str(data), "--dev", str(data), "--test", str(data)]
        model = [] if "none" in flags else ["--model", str(model_folder)]
        return main(["task", "train", "ner", *files, "-o", str(tmp_path / name), *SMALL, *model, "--quiet", *flags])

    return run


def test_a_rule_that_is_as_good_as_the_model_is_named(train, tmp_path, capsys):
    assert train("run", "--encoder", "none") == 0
    (rule,) = json.loads((tmp_path / "run" / "scores.json").read_text())["rules"]
    assert (rule["rule"], rule["dev"], rule["test"]) == ("training-names", 100, 100)  # all data are the training data
    note = (
        'note: {}: a rule without learning is at least as good: "names of the training data" has f1 100.00 on the dev'
    )
    assert note.format(tmp_path / "run") in capsys.readouterr().err


def test_bars_show_the_training_and_its_predictions_unless_refused(tmp_path, data, capsys, terminal, on_terminal):
    run, data = str(tmp_path / "run"), str(data)
    command = ["task", "train", "ner", "--train", data, "--dev", data, "--encoder", "none", *SMALL]
    assert on_terminal(main, [*command, "-o", run]) == 0
    assert any(line.startswith("seed 1: 100%") for line in terminal.screen)
    assert on_terminal(main, ["task", "evaluate", run, data]) == 0
    assert any(line.startswith("predicting: 100%") for line in terminal.screen)


def test_from_a_file_to_predictions_with_two_commands(tmp_path, data, capsys):
    text = tmp_path / "text.txt"
    text.write_text("Anna saw Rome\n\nthe Bank\n", encoding="utf-8")
    run = str(tmp_path / "run")
    assert main(["task", "train", "ner", "--train", str(data), "-o", run, "--encoder", "none", *SMALL]) == 0
    told = capsys.readouterr()
    assert "4 of the training examples decide which epoch is the best" in told.err
    assert "dev   f1 " in told.out
    assert main(["task", "predict", run, str(text)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["Anna", "saw", "Rome", "", "", "the", "Bank", ""]


def test_a_run_leaves_scores_predictions_and_models(train, tmp_path, data, capsys):
    assert train("run", "--seeds", "1", "2", "--json") == 0
    run = tmp_path / "run"
    scores = json.loads((run / "scores.json").read_text())
    assert scores == json.loads(capsys.readouterr().out)
    assert (scores["task"], scores["metric"], scores["seeds"]) == ("ner", "f1", [1, 2])
    assert scores["dev"]["standard_deviation"] is not None
    one = scores["per_seed"][0]
    assert {"LOC", "PER"} == set(one["test"]["per_label"])
    assert len(one["mix_weights"][0]["weights"]) == 3
    assert {path.name for path in run.iterdir()} == {
        "run.json", "cache", "seed-1", "seed-2", "scores.json", "model",
    }  # fmt: skip
    assert {path.name for path in (run / "seed-1").iterdir()} == {
        "metrics.jsonl", "scores.json", "env.json", "model", "dev.predictions", "test.predictions",
        "dev.examples.json", "test.examples.json",
    }  # fmt: skip
    first = (run / "seed-1" / "test.predictions").read_text().splitlines()[0].split(" ")
    assert len(first) == 3
    best = run / f"seed-{scores['best_seed']}" / "model" / "model.safetensors"
    assert (run / "model" / "model.safetensors").read_bytes() == best.read_bytes()
    exact = scores["per_seed"][scores["seeds"].index(scores["best_seed"])]["test"]["f1"]
    for dtype in ("float32", "bfloat16", "int8", "auto"):
        assert main(["task", "evaluate", str(run), str(data), "--json", "--dtype", dtype]) == 0
        assert json.loads(capsys.readouterr().out)["f1"] == pytest.approx(exact, abs=0 if dtype == "float32" else 10)


def test_the_scores_are_a_table_and_predictions_are_not_overwritten(tagger, tmp_path, data, capsys):
    arguments = ["task", "evaluate", tagger, str(data), "-o", str(tmp_path / "predicted.conll")]
    assert main(arguments) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in table] == ["all", "LOC", "PER"]
    assert main(arguments) == 2
    assert "--force" in capsys.readouterr().err


def test_the_same_command_gives_the_same_result_and_a_shared_cache_is_used(train, tmp_path):
    cache = tmp_path / "cache"
    assert train("one", "--cache", str(cache)) == 0
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    assert train("two", "--cache", str(cache)) == 0
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == files
    weights = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    "flags",
    [
        ("--layers", "average", "--placement", "output"),
        ("--train-bilm", "--epochs", "1", "--unfreeze-epochs", "0", "--learning-rate", "0.001"),
        ("--train-share", "0.2", "--cache-dtype", "float16", "--include-bilm"),
    ],
    ids=" ".join,
)
def test_every_way_of_using_elmo_trains_and_predicts(train, tmp_path, flags, capsys, stdin):
    assert train("run", *flags) == 0
    assert (tmp_path / "run" / "model" / "bilm").is_dir() == ("--train-bilm" in flags or "--include-bilm" in flags)
    stdin(b"Anna saw Rome .\n")
    assert main(["task", "predict", str(tmp_path / "run"), "--json", "--tokenizer", "unicode"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["tokens"] == ["Anna", "saw", "Rome", "."]


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_ends_the_same(train, tmp_path, monkeypatch, capsys):
    assert train("whole", "--seeds", "1", "2") == 0

    from contextlib import contextmanager, nullcontext

    looks = iter(range(10_000))

    class Flag:
        signal = property(lambda self: 15 if next(looks) >= 9 else None)
        check = train_module.StopFlag.check
        at_once = nullcontext

    @contextmanager
    def stopping():
        yield Flag()

    monkeypatch.setattr(train_module, "stop_flag", stopping)
    looks = iter(range(50, 10_000))
    assert train("cut", "--seeds", "1", "2") == 75  # while the layers are computed
    looks = iter(range(10_000))
    assert train("cut", "--resume", "--seeds", "1", "2") == 75
    told = capsys.readouterr().err
    assert "Continue with the same command and --resume" in told
    monkeypatch.setattr(train_module, "stop_flag", stop_flag)
    assert train("cut", "--seeds", "1") == 2
    assert "Use --resume" in capsys.readouterr().err
    assert train("cut", "--resume", "--seeds", "1", "2") == 0
    whole, cut = (json.loads((tmp_path / name / "scores.json").read_text()) for name in ("whole", "cut"))
    assert whole == cut
    name = "seed-2/model/model.safetensors"
    assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()


def test_seeds_are_added_by_resuming_but_not_while_another_run_is_under_way(train, tmp_path, capsys, monkeypatch):
    assert train("run") == 0
    first = (tmp_path / "run" / "seed-1" / "model" / "model.safetensors").stat().st_mtime_ns
    if folder_lock.fcntl is not None:
        monkeypatch.setattr(folder_lock, "SECONDS", 0.0)
        with folder_lock.locked(tmp_path / "run", "run"):
            assert train("run", "--resume", "--seeds", "1", "3") == 2
        assert "another 'elmo task train' or 'elmo-paper reproduce' is at work there" in capsys.readouterr().err
        assert not (tmp_path / "run" / "seed-3").exists()
    assert train("run", "--resume", "--seeds", "1", "3") == 0
    assert (tmp_path / "run" / "seed-1" / "model" / "model.safetensors").stat().st_mtime_ns == first
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["seeds"] == [1, 3]


def test_a_run_is_resumed_with_what_it_was_begun_with(train, tmp_path, data, capsys):
    vectors, options = tmp_path / "vectors.txt", ("--encoder", "none", "--static", str(tmp_path / "vectors.txt"))
    vectors.write_text("Anna 1 2\nsaw 3 4\nthe 5 6\n")
    assert train("run", *options) == 0
    assert train("run", *options, "--resume", "--seeds", "1", "2") == 0
    path = tmp_path / "run" / "run.json"
    facts = json.loads(path.read_text())
    del facts["settings"]["clip_value"]  # a setting that didn't exist counts as its default
    path.write_text(json.dumps(facts))
    assert train("run", *options, "--resume") == 0

    def refused(*flags: str) -> str:
        assert train("run", *options, "--resume", *flags) == 2
        return capsys.readouterr().err

    assert "started with learning_rate 0.001, now it is 0.5" in refused("--learning-rate", "0.5")
    assert "started with clip_value 0.0, now it is 0.5" in refused("--clip-value", "0.5")
    vectors.write_text("Anna 1 2\nsaw 3 5\nthe 5 6\n")
    assert "started with the static vectors 'static' of hash" in refused("--seeds", "1", "2", "3")
    path.write_text(json.dumps({name: fact for name, fact in facts.items() if name != "vectors"}))
    assert train("run", *options, "--resume") == 0  # begun before hashes were noted
    data.write_text("Anna B-LOC\n")
    assert "started with the train file of hash" in refused()
    assert train("nothing", "--resume") == 2
    assert "there is no run to resume" in capsys.readouterr().err


def test_a_run_is_resumed_with_layers_of_the_precision_it_was_begun_with(train, tmp_path, capsys):
    assert train("run", "--cache-dtype", "float16") == 0
    assert train("run", "--resume", "--seeds", "1", "2") == 2
    assert "started with cache_dtype 'float16', now it is 'float32'" in capsys.readouterr().err
    assert train("older") == 0
    path = tmp_path / "older" / "run.json"
    path.write_text(
        json.dumps({name: fact for name, fact in json.loads(path.read_text()).items() if "dtype" not in name})
    )
    assert train("older", "--resume") == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("option", ["--train", "--dev", "--test"])
def test_data_that_can_be_read_only_once_is_refused(tmp_path, data, capsys, option):
    os.mkfifo(tmp_path / "pipe")
    command = ["task", "train", "ner", "--train", str(data), "-o", str(tmp_path / "run"), "--encoder", "none"]
    assert main([*command, option, str(tmp_path / "pipe")]) == 2
    assert f"{tmp_path / 'pipe'} can be read only once" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_same_command_resumes_also_with_switches(train, tmp_path):
    """What is noted as on must not make its flag unknown."""
    switches = ["--layer-norm", "token", "--train-bilm", "--no-train-static"]
    assert train("run", *switches) == 0
    assert train("run", *switches, "--resume") == 0
    noted = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (noted["layer_norm"], noted["train_bilm"], noted["train_static"]) == ("token", True, False)


def test_settings_come_from_a_file_and_flags_win(train, tmp_path, capsys):
    (tmp_path / "x.toml").write_text('learning_rate = 0.5\nplacement = "both"\nbatch_size = 4\n')
    assert train("run", str(tmp_path / "x.toml"), "--placement", "output") == 0
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (settings["learning_rate"], settings["placement"], settings["batch_size"]) == (0.5, "output", 8)
    (tmp_path / "x.toml").write_text("lerning_rate = 0.5\n")
    assert train("other", str(tmp_path / "x.toml")) == 2
    assert "there is no setting 'lerning_rate'" in capsys.readouterr().err


def test_a_label_the_model_doesnt_know_is_told(tagger, tmp_path, capsys):
    path = tmp_path / "other.conll"
    path.write_text("Rome B-CITY\n")
    assert main(["task", "evaluate", tagger, str(path)]) == 2
    assert f"{path}:1: the label 'CITY'" in capsys.readouterr().err


def test_help_needs_no_task(capsys):
    assert main(["task", "train", "--help"]) == 0
    assert main(["task", "score"]) == 2
    out, err = capsys.readouterr()
    assert out == err and "elmo task train" in out


def test_text_in_another_encoding_is_read_if_it_is_named(train, tmp_path, capsys):
    data, text = tmp_path / "latin.conll", tmp_path / "latin.txt"
    data.write_bytes("the O\nAndré B-PER\n\nsaw O\nAnna B-PER\n".encode("latin-1"))
    assert train("run", "--train", str(data), "--dev", str(data), "--test", str(data), "--encoder", "none") == 2
    message = capsys.readouterr().err
    assert message.startswith(f"{data}:2: not valid UTF-8 (byte 0xE9 at column 5). Use --encoding with what")
    assert "--errors" not in message
    files = ["--train", str(data), "--dev", str(data), "--test", str(data), "--encoding", "latin-1"]
    assert train("run", *files, "--encoder", "none") == 0
    text.write_bytes("saw Anna\nAndré saw\n".encode("latin-1"))
    predict = ["task", "predict", str(tmp_path / "run"), str(text)]
    capsys.readouterr()
    assert main(predict) == 2
    assert f"{text}:2: not valid UTF-8" in capsys.readouterr().err
    assert main([*predict, "--encoding", "latin-1"]) == 0
    assert "\nAndré " in capsys.readouterr().out
    assert main([*predict, "--errors", "skip", "--json"]) == 1
    told = capsys.readouterr()
    assert f"skipped: {text}:2: not valid UTF-8" in told.err
    assert [json.loads(line)["tokens"] for line in told.out.splitlines()] == [["saw", "Anna"], []]


def test_predictions_are_made_while_the_text_is_read(tagger, monkeypatch):
    seen = []

    class Endless(io.RawIOBase):
        """Lines without end; how many were read when the first prediction was written."""

        def readable(self):
            return True

        def readinto(self, buffer):
            seen.append(len(seen))
            if len(seen) > 2000:
                raise AssertionError("all of the text is read before anything is written")
            line = b"Anna saw Rome\n"
            buffer[: len(line)] = line
            return len(line)

    class Full(io.StringIO):
        def writelines(self, lines):
            next(iter(lines))
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless(), buffer_size=14)))
    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(BrokenPipeError):
        task.main(["predict", tagger])
    assert len(seen) < 1100


def test_predictions_of_other_sentences_are_not_scored(tmp_path, capsys):
    gold, predictions = tmp_path / "gold", tmp_path / "predictions"
    gold.write_text("Anna B-PER\n\nthe O\n")
    for text, message in (
        ("Elsewhere O\n\nthe O\n", f"{predictions}:1: token 1 is 'Elsewhere'"),
        ("Anna B-PER\n", "Score predictions for exactly the gold file's sentences"),
    ):
        predictions.write_text(text)
        assert main(["task", "score", "ner", str(gold), str(predictions)]) == 2
        assert message in capsys.readouterr().err


def test_a_tagger_that_finds_nothing_says_so_and_shows_its_labels(tmp_path, data, capsys, monkeypatch):
    monkeypatch.setattr("elmo.tasks.ner.model.Tagger.decide", lambda self, outputs, examples: [[] for _ in examples])
    run = str(tmp_path / "run")
    assert main(["task", "train", "ner", "--train", str(data), *SMALL, "--encoder", "none", "-o", run]) == 0
    told = capsys.readouterr()
    assert "LOC" in told.out
    assert "the tagger predicts no entity at all: train it longer" in told.err
    assert main(["task", "evaluate", run, str(data)]) == 0
    assert "the tagger predicts no entity at all" in capsys.readouterr().err


def test_entities_have_their_tokens_and_places_in_raw_text(tagger, capsys, stdin):
    line = "(Anna saw Rome.)"
    stdin(f"{line}\n".encode())
    assert main(["task", "predict", tagger, "--json", "--tokenizer", "unicode"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tokens"] == ["(", "Anna", "saw", "Rome", ".", ")"]
    assert found["entities"]
    for (start, end, label), entity in zip(found["prediction"], found["entities"], strict=True):
        assert entity["tokens"] == found["tokens"][start:end]
        assert line[slice(*entity["characters"])] == "".join(entity["tokens"])
        assert entity["label"] == label


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--best-by", "f2"], "compared by 'f2', but its score has only f1, macro_f1"),
        (["--epochs", "1000001"], "must be a whole number from 1 to 1,000,000 (got 1000001)"),
    ],
)
def test_settings_that_no_model_can_have_leave_nothing_behind(train, tmp_path, capsys, flags, message):
    try:
        assert train("run", *flags) == 2
    except SystemExit as end:  # what a flag by itself can't be
        assert end.code == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert not (tmp_path / "run").exists()


def test_several_files_are_predicted_one_after_the_other(tagger, tmp_path, capsys):
    for name, text in (("b", "Anna saw Rome\n"), ("a", "the Bank\n\nRome\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    names = [str(tmp_path / "b.txt"), str(tmp_path / "a.txt")]
    assert main(["task", "predict", tagger, *names, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["file"], one["tokens"]) for one in found] == [
        (names[0], ["Anna", "saw", "Rome"]),
        *((names[1], tokens) for tokens in (["the", "Bank"], [], ["Rome"])),
    ]
    assert main(["task", "predict", tagger, str(tmp_path / "?.txt"), "--json"]) == 0
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert again == [*found[1:], found[0]]
    assert main(["task", "predict", tagger, *names]) == 0
    together = capsys.readouterr().out
    apart = []
    for name in names:
        assert main(["task", "predict", tagger, name]) == 0
        apart.append(capsys.readouterr().out)
    assert together == "".join(apart)
    assert main(["task", "predict", tagger, names[0], "-"]) == 2
    assert "- is read once, as a stream, but 2 texts were named" in capsys.readouterr().err
    assert main(["task", "predict", tagger, str(tmp_path / "none-*.txt")]) == 2
    assert "no file matches this pattern" in capsys.readouterr().err


def test_an_odd_text_is_warned_of_before_the_model_is_loaded(train, tmp_path, monkeypatch, capsys):
    assert train("run") == 0
    capsys.readouterr()
    korean, raw = tmp_path / "korean.txt", tmp_path / "raw.txt"
    korean.write_text("은행에서 돈을 찾았다 .\n그는 강가에 갔다 .\n", encoding="utf-8")
    raw.write_text("It rained, and we stayed.\n", encoding="utf-8")

    def unwanted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("elmo.cli.verbs.task.apply._loaded", unwanted)
    said = (
        (["--tokenizer", "auto"], korean, "korean.txt is not in the model's language"),
        (["--tokenizer", "whitespace"], raw, "raw.txt looks untokenized: 'rained,' is one word"),
        ([], raw, "raw.txt looks untokenized ('rained,' is one word of it), so it"),
    )
    for flags, path, message in said:
        with pytest.raises(KeyboardInterrupt):
            task.main(["predict", str(tmp_path / "run"), str(path), *flags])
        assert message in (told := capsys.readouterr().err)
        assert "--model; 'elmo models'" not in told
