"""What can't work ends with a message: every case runs in one process."""

import json
import os
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import elmo
from elmo.cli.main import VERBS
from elmo.cli.verbs.pretrain import Machine
from elmo.cli.verbs.task.train import Train
from elmo.weights.native.write import write

RUNNER = """
import contextlib, io, json, sys
from elmo.cli.main import main
found = []
for argv in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(argv)
        except SystemExit as end:
            code = end.code
    found.append([code, err.getvalue()])
json.dump(found, sys.stdout)
"""

LABELLED = "the O\nbank B-X\n\n"
# name: (arguments, what the message says); {} stands for the folder of the files below
CASES = {
    "perplexity: no text": ("perplexity {}/none.txt", "there is no such file"),
    "perplexity: no model": ("perplexity {}/no-model {}/text.txt", "no model of that name"),
    "perplexity: no softmax": ("perplexity {}/deaf {}/text.txt", "has no softmax"),
    "perplexity: over the text": ("perplexity {}/text.txt --per-token {}/text.txt --force", "is the input itself"),
    "perplexity: tokens in the way": ("perplexity {}/text.txt --per-token {}/taken", "exists already"),
    "scores: no text": ("scores {}/none.txt", "there is no such file"),
    "scores: a folder": ("scores {}", "is a folder, but a text file"),
    "scores: no model": ("scores {}/text.txt -m {}/no-model", "no model of that name"),
    "scores: no softmax": ("scores {}/deaf {}/text.txt", "has no softmax"),
    "substitutes: no mark": ("substitutes {}/no-model 'no mark'", "exactly one place must be marked"),
    "substitutes: no word": ("substitutes '[a] b' --top 0", "top must be at least 1 (got 0)"),
    "substitutes: no softmax": ("substitutes {}/deaf '[a] b'", "has no softmax"),
    "embed: no layer": ("embed {}/text.txt -o {}/new.h5 --layers 7", "the model has 3 layers"),
    "embed: no such layers": ("embed {}/text.txt -o {}/new.h5 --layers upper", "layers is 'upper', but the model has"),
    "embed: weights": ("embed {}/text.txt -o {}/new.h5 --layers 1,2", "layers is [1.0, 2.0], but the model has 3"),
    "embed: no layer of a text": ("embed 'The bank .' --layers -4", "the model has 3 layers"),
    "embed: no model": ("embed {}/text.txt -o {}/new.h5 -m {}/no-model", "no model of that name"),
    "embed: damaged config": ("embed {}/text.txt -o {}/new.h5 -m {}/damaged", "is not valid JSON"),
    "embed: no output": ("embed {}/text.txt -o {}/text.txt/new.h5", "new.h5.partial: can't be made"),
    "embed: over the text": ("embed {}/text.txt -o {}/text.txt --to npy --force", "is the input itself"),
    "index: no text": ("index {}/none.txt -o {}/new", "there is no such file"),
    "index: in the way": ("index {}/text.txt -o {}/deaf", "exists already"),
    "index: holds the text": ("index {}/text.txt -o {} --force", "is the input itself, or contains it"),
    "index: no model": ("index {}/text.txt -o {}/new -m {}/no-model", "no model of that name"),
    "neighbors: no index": ("neighbors {}/none '[a] b'", "{}/none"),
    "train: no data": ("task train ner --train {}/none -o {}/run", "there is no such file"),
    "train: no dev": ("task train ner --train {}/labelled --dev {}/none -o {}/run", "{}/none: there is no"),
    "train: no static": ("task train ner --train {}/labelled -o {}/run --static g={}/none", "{}/none: there is no"),
    "train: no model": ("task train ner --train {}/labelled -o {}/run --model {}/no-model", "no model of that name"),
    "train: in the way": ("task train ner --train {}/labelled -o {}/deaf", "is not empty"),
    "train: nothing to resume": ("task train ner --train {}/labelled -o {}/run --resume", "no run to resume"),
    "train: no config": ("task train ner {}/none.toml --train {}/labelled -o {}/run", "there is no such file"),
    "evaluate: no model": ("task evaluate {}/none {}/labelled", "not a task model"),
    "evaluate: a biLM": ("task evaluate {}/deaf {}/labelled", "is a biLM, and not a model of a task"),
    "evaluate: over its input": ("task evaluate {}/tagger {}/labelled -o {}/labelled --force", "is the input itself"),
    "predict: no text": ("task predict {}/tagger {}/none", "{}/none: there is no"),
    "predict: no tokenizer": ("task predict {}/tagger {}/text.txt --tokenizer none:at", "none"),
    "pretrain: no data": ("pretrain --data {}/none -o {}/run", "is not prepared data"),
    "pretrain: no config": ("pretrain {}/none.toml --data {}/prepared -o {}/run", "there is no such file"),
    "pretrain: another config": ("pretrain {}/text.txt --data {}/prepared -o {}/run", "is not a TOML file"),
    "pretrain: no setting": ("pretrain {}/bad.toml --data {}/prepared -o {}/run", "{}/bad.toml: unknown setting 'cell"),
    "finetune: no data": ("finetune --data {}/none -o {}/run", "is not prepared data"),
    "convert: no model": ("convert {}/no-model {}/new", "no model of that name"),
    "convert: no options": ("convert {}/text.txt {}/new --options {}/none", "{}/none: "),
    "serve: no model": ("serve {}/no-model", "no model of that name"),
    "serve: damaged config": ("serve {}/damaged --port 0", "is not valid JSON"),
    "serve: no second model": ("serve {}/deaf {}/no-model", "no model of that name"),
    "embed: over a pipe": ("embed {}/text.txt -o {}/pipe --to npy --force", "is a FIFO"),
    "perplexity: over a pipe": ("perplexity {}/text.txt --per-token {}/pipe --force", "is a FIFO"),
    "static: over a pipe": ("static {}/text.txt -o {}/pipe --force", "is a FIFO"),
    "embed: nothing": ("embed -o {}/new.h5", "inputs: no value was given. "),
    "embed: in the way": ("embed {}/text.txt -o {}/taken --to npy -m {}/damaged", "taken: exists already"),
    "embed: no ending": ("embed {}/text.txt -o {}/new.txt -m {}/damaged", "is not the ending of a vector format"),
    "embed: no text": ("embed {}/none.txt -o {}/new.h5 -m {}/damaged", "{}/none.txt: there is no such file"),
    "embed: a bad line": ("embed {}/latin.txt -o {}/new.h5 -m {}/damaged", "latin.txt:2: not valid UTF-8"),
    "embed: an empty text": ("embed {}/empty.txt -o {}/new.h5 -m {}/damaged", "empty.txt is empty"),
    "embed: no encoding": ("embed {}/text.txt -o {}/new.h5 --encoding klingon -m {}/damaged", "klingon"),
    "embed: no tokenizer": ("embed {}/text.txt -o {}/new.h5 --tokenizer moses -m {}/damaged", "no tokenizer 'moses'"),
    "embed: no column": ("embed {}/text.txt -o {}/new.h5 --format csv -m {}/damaged", "no column 'text', the columns"),
    "embed: a folder": ("embed {} -o {}/new.h5 -m {}/damaged", "is a folder"),
    "embed: no -o": ("embed {}/text.txt -m {}/damaged", "is a file, or the first of several texts, but there is no -o"),
    "embed: no match": ("embed {}/*.csv -o {}/new.h5 -m {}/damaged", "no file matches"),
    "embed: a file's name": ("embed none.txt -m {}/damaged", "none.txt: there is no such file"),
    "embed: a path": ("embed none/none -m {}/damaged", "there is no such file"),
    "embed: an empty line": ("embed '' -m {}/damaged", "the text is empty"),
    "embed: blanks": ("embed '  ' -m {}/damaged", "the text is empty"),
    "embed: cp949": ("embed '\udcb9\udce4' -m {}/damaged", "as in this terminal"),
    "substitutes: cp949": ("substitutes {}/no-model '[\udcb9\udce4] a'", "as in this terminal"),
    "prepare: no valid": ("prepare {}/text.txt -o {}/new --valid", "valid: no value was given. "),
    "prepare: no output": ("prepare {}/text.txt", "output"),
    "prepare: no errors": ("prepare {}/text.txt -o {}/new --errors x", "errors"),
    "prepare: no vocabulary": ("prepare {}/text.txt -o {}/new --vocabulary nosuch", "nosuch: there is no such file"),
    "prepare: a model without": ("prepare {}/text.txt -o {}/new --vocabulary {}/deaf", "vocab.txt: there is no"),
    "pretrain: no output": ("pretrain --data {}/prepared", "output"),
    "pretrain: no number": ("pretrain --data {}/prepared -o {}/run --cell-size many", "cell"),
    "pretrain: no time": ("pretrain --data {}/prepared -o {}/run --peer-timeout 0", "peer_timeout must be"),
    "convert: in its place": ("convert {}/deaf {}/deaf --force", "itself, or contains it"),
    "models: no option": ("models --nonsense", "nonsense"),
    "download: no name": ("download many-langs/xx", "has no such language"),
    "download: no address": ("download german", "no address"),
    "serve: without a key": ("serve --host 0.0.0.0 --port 0", "can reach 0.0.0.0, but no API key is set"),
    "serve: no port": ("serve --port 65536", "port must be a whole number from 0 to 65,535 (got 65536)"),
    "serve: no keys": ("serve --port 0 --api-key-file {}/none", "none: No such file"),
    "serve: an empty file of keys": ("serve --port 0 --api-key-file {}/empty.txt", "empty.txt: has no keys"),
    "serve: a weak key": ("serve --port 0 --api-key-file {}/taken", "shorter than 16 characters"),
    "serve: no tokens": ("serve --port 0 --max-tokens 0", "max_tokens must be at least 1 (got 0)"),
    "serve: no tokenizer": ("serve --port 0 --tokenizer none", "no tokenizer 'none'"),
    "serve: one twice": ("serve small-en small-en --port 0", "two models have one name (small-en, small-en)"),
    "task: no action": ("task tain ner", "there is no action 'tain'"),
    "train: no task": ("task train tags", "there is no task 'tags'"),
    "score: no task": ("task score tags a b", "there is no task 'tags'"),
    "predict: no model": ("task predict nowhere -", "not a task model: there is no such folder. Paths count from"),
    "embed: format of none": ("embed {}/none.csv --format csv", "{}/none.csv: there is no such file"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that are what they seem as far as is looked at early; no model in it could be loaded."""
    path = tmp_path_factory.mktemp("early")
    (path / "text.txt").write_text("the bank was steep .\n")
    (path / "labelled").write_text(LABELLED)
    (path / "taken").write_text("somebody's\n")
    (path / "latin.txt").write_bytes(b"ok\ncaf\xe9\n")
    (path / "empty.txt").touch()
    (path / "bad.toml").write_text("cellsize = 1\n")
    os.mkfifo(path / "pipe")
    bundled = Path(elmo.__file__).parent / "bundled" / "small-en"
    for name in ("deaf", "damaged", "tagger", "prepared"):
        (path / name).mkdir()
    (path / "deaf" / "config.json").write_bytes((bundled / "config.json").read_bytes())
    (path / "deaf" / "model.safetensors").write_bytes((bundled / "model.safetensors").read_bytes())
    (path / "damaged" / "config.json").write_text("{")
    (path / "damaged" / "model.safetensors").write_bytes(b"")
    config = {"format_version": 2, "task": "ner", "settings": {}, "vocabulary": {}, "bilm": None}
    config |= {"num_trained_words": 0, "metadata": {}}
    (path / "tagger" / "config.json").write_text(json.dumps(config))
    counts = {"types": 3, "vocabulary_size": 3, "settings": {"max_characters_per_token": 50}, "splits": {}}
    (path / "prepared" / "data.json").write_text(json.dumps({"format_version": 1, **counts}))
    return path


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> dict[str, tuple[int, str]]:
    """Exit code and message of every case."""
    before = sorted(path.name for path in folder.rglob("*"))
    calls = [_arguments(line, folder) for line, _ in CASES.values()]
    environment = {name: value for name, value in os.environ.items() if name != "ELMO_MODEL"}
    environment |= {"PYTHONPATH": str(Path(elmo.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(calls), capture_output=True, text=True, env=environment,
        cwd=folder, check=True, timeout=100,
    )  # fmt: skip
    assert sorted(path.name for path in folder.rglob("*")) == before, "something was written"
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def _arguments(line: str, folder: Path) -> list[str]:
    quoted = line.split("'")
    parts = [part.split() if place % 2 == 0 else [part] for place, part in enumerate(quoted)]
    return [part.replace("{}", str(folder)) for some in parts for part in some]


@pytest.mark.parametrize("case", CASES)
def test_what_can_not_work_ends_with_its_message(case, outcomes, folder):
    if case.startswith(("train: no", "evaluate: no", "evaluate: a", "pretrain:", "finetune:")):
        pytest.importorskip("torch")
    code, message = outcomes[case]
    assert CASES[case][1].replace("{}", str(folder)) in message
    assert code == 2
    assert "Traceback" not in message and "ImportError" not in message


def test_every_verb_that_takes_long_can_be_quiet():
    short = {"models", "inspect", "substitutes", "doctor"}
    of_actions = {"task": Train, "pretrain": Machine, "finetune": Machine}
    for verb in set(VERBS) - short:
        arguments = of_actions.get(verb) or import_module(f"elmo.cli.verbs.{verb}").Arguments
        assert "quiet" in {field.name for field in fields(arguments)}, verb


def test_a_right_command_passes(model_folder, language_model, tmp_path):
    """The checks refuse nothing that works: force over an existing model, and one layer of all."""
    write(language_model, tmp_path / "other")
    from elmo.cli.main import main

    assert main(["convert", str(model_folder), str(tmp_path / "other"), "--force", "--quiet"]) == 0
    assert main(["embed", "the bank", "-m", str(model_folder), "--layers", "-3", "--json"]) == 0
