"""What can't work ends before torch is imported: every case runs in one process in which torch can't be imported."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import numpy as np
import pytest

import elmo
from elmo.cli.early_checks import As, check, declared_roles, roles
from elmo.cli.main import VERBS
from elmo.cli.verbs.analyze import ANALYSES, RecordFlags
from elmo.cli.verbs.pretrain import Machine
from elmo.cli.verbs.serve import require_utf8
from elmo.cli.verbs.task.train import Train
from elmo.errors import ConfigError, ElmoError, OutputError, TextError
from elmo.weights import hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.describe import outline
from elmo.weights.native.write import write

RUNNER = """
import contextlib, io, json, sys

class NoTorch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ImportError("torch was imported")

sys.meta_path.insert(0, NoTorch)
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

COVE = "--dev {}/text.txt {}/text.txt --vectors {}/text.txt -o {}/new"
LABELLED = "the O\nbank B-X\n\n"
# name: (arguments, what the message says); {} stands for the folder of the files below
CASES = {
    "perplexity: no text": ("perplexity {}/none.txt", "there is no such file"),
    "perplexity: no model": ("perplexity {}/no-model {}/text.txt", "no model of that name"),
    "perplexity: no softmax": ("perplexity {}/deaf {}/text.txt", "has no softmax"),
    "perplexity: over the text": ("perplexity {}/text.txt --per-token {}/text.txt --force", "is the text itself"),
    "perplexity: tokens in the way": ("perplexity {}/text.txt --per-token {}/taken", "exists already"),
    "perplexity: no folder": ("perplexity {}/text.txt --per-token {}/text.txt/x", "is not a folder"),
    "scores: no text": ("scores {}/none.txt", "there is no such file"),
    "scores: a folder": ("scores {}", "is a folder, but a text file"),
    "scores: no model": ("scores {}/text.txt -m {}/no-model", "no model of that name"),
    "scores: no softmax": ("scores {}/deaf {}/text.txt", "has no softmax"),
    "substitutes: no mark": ("substitutes 'no mark'", "exactly one place must be marked"),
    "substitutes: no word": ("substitutes '[a] b' --top 0", "--top must be at least 1 (got 0)"),
    "substitutes: no softmax": ("substitutes {}/deaf '[a] b'", "has no softmax"),
    "embed: no layer": ("embed {}/text.txt -o {}/new.h5 --layers 7", "the model has 3 layers"),
    "embed: no such layers": ("embed {}/text.txt -o {}/new.h5 --layers upper", "chooses no layers"),
    "embed: weights": ("embed {}/text.txt -o {}/new.h5 --layers 1,2", "has 2 weights, but the model has 3"),
    "embed: no layer of a text": ("embed 'The bank .' --layers -4", "the model has 3 layers"),
    "embed: no layer of AllenNLP's": ("embed {}/text.txt -o {}/new.h5 -m {}/allennlp --layers 2", "the model has 2"),
    "embed: no model": ("embed {}/text.txt -o {}/new.h5 -m {}/no-model", "no model of that name"),
    "embed: damaged config": ("embed {}/text.txt -o {}/new.h5 -m {}/damaged", "is not valid JSON"),
    "embed: no output": ("embed {}/text.txt -o {}/text.txt/new.h5", "is not a folder"),
    "embed: over the text": ("embed {}/text.txt -o {}/text.txt --to npy --force", "is the text itself"),
    "index: no text": ("index {}/none.txt -o {}/new", "there is no such file"),
    "index: in the way": ("index {}/text.txt -o {}/deaf", "exists already"),
    "index: holds the text": ("index {}/text.txt -o {} --force", "is the input itself, or contains it"),
    "index: no model": ("index {}/text.txt -o {}/new -m {}/no-model", "no model of that name"),
    "neighbors: no index": ("analyze neighbors {}/none '[a] b'", "there is no such folder"),
    "neighbors: no vectors": ("analyze neighbors {}/deaf '[a] b' --static {}/none", "there is no such file"),
    "neighbors: no mssg": ("analyze neighbors {}/deaf '[a] b' --mssg {}/none", "there is no such file"),
    "precision: no context2vec": ("analyze precision {}/text.txt --context2vec {}/none", "there is no such folder"),
    "context2vec: no text": ("context2vec {}/none.txt -o {}/new", "there is no such file"),
    "cove: no text": (f"cove {{}}/text.txt {{}}/none {COVE}", "{}/none: there is no such file"),
    "cove: no dev": (f"cove {{}}/text.txt {{}}/text.txt {COVE} --dev {{}}/none {{}}/text.txt", "{}/none: there is no"),
    "cove: a pipe": (f"cove {{}}/text.txt {{}}/text.txt {COVE} --vectors {{}}/pipe", "{}/pipe: can be read only once"),
    "cove: in the way": (f"cove {{}}/text.txt {{}}/text.txt {COVE} -o {{}}/text.txt", "is not a folder"),
    "context2vec: in the way": ("context2vec {}/text.txt -o {}/deaf", "exists already"),
    "wsd: no training": (
        "analyze wsd --train {}/none --test {}/text.txt --inventory {}/text.txt", "there is no such file",
    ),
    "wsd: no test": ("analyze wsd --train {}/text.txt --test {}/none --inventory {}/text.txt", "{}/none: there is no"),
    "wsd: output": (
        "analyze wsd --train {}/text.txt --test {}/text.txt --inventory {}/text.txt -o {}/taken", "exists already",
    ),
    "geometry: standard input": ("analyze geometry -", "stdin: can be read only once"),
    "geometry: a pipe": ("analyze geometry {}/pipe", "{}/pipe: can be read only once"),
    "pos: a pipe": (
        "analyze pos --train {}/text.txt --dev {}/pipe --test {}/text.txt", "{}/pipe: can be read only once",
    ),
    "wsd: a pipe": (
        "analyze wsd --train {}/text.txt --test {}/text.txt {}/pipe --inventory {}/text.txt", "can be read only once",
    ),
    "explore: a pipe": ("explore --text {}/pipe", "can be read only once"),
    "pos: no dev": ("analyze pos --train {}/text.txt --dev {}/none --test {}/text.txt", "{}/none: there is no"),
    "pos: over its input": (
        "analyze pos --train {}/text.txt --dev {}/text.txt --test {}/text.txt -o {}/text.txt --force",
        "is the input itself",
    ),
    "pos: no model": (
        "analyze pos --train {}/text.txt --dev {}/text.txt --test {}/text.txt -m {}/no-model", "no model of that name",
    ),
    "train: no data": ("task train ner --train {}/none -o {}/run", "there is no such file"),
    "train: no dev": ("task train ner --train {}/labelled --dev {}/none -o {}/run", "{}/none: there is no"),
    "train: no static": ("task train ner --train {}/labelled -o {}/run --static g={}/none", "{}/none: there is no"),
    "train: no model": ("task train ner --train {}/labelled -o {}/run --model {}/no-model", "no model of that name"),
    "train: in the way": ("task train ner --train {}/labelled -o {}/deaf", "is not empty"),
    "train: a file": ("task train ner --train {}/labelled -o {}/taken", "is not a folder"),
    "train: nothing to resume": ("task train ner --train {}/labelled -o {}/run --resume", "no run to resume"),
    "train: no config": ("task train ner {}/none.toml --train {}/labelled -o {}/run", "there is no such file"),
    "evaluate: no model": ("task evaluate {}/none {}/labelled", "not a task model"),
    "evaluate: a biLM": ("task evaluate {}/deaf {}/labelled", "is a biLM, and not a model of a task"),
    "evaluate: no data": ("task evaluate {}/tagger {}/none", "{}/none: there is no"),
    "evaluate: output": ("task evaluate {}/tagger {}/labelled -o {}/taken", "exists already"),
    "evaluate: over its input": ("task evaluate {}/tagger {}/labelled -o {}/labelled --force", "is the input itself"),
    "predict: no text": ("task predict {}/tagger {}/none", "{}/none: there is no"),
    "predict: output": ("task predict {}/tagger {}/text.txt -o {}/deaf", "is a folder"),
    "predict: no biLM": ("task predict {}/tagger {}/text.txt --model {}/no-model", "no model of that name"),
    "predict: no tokenizer": ("task predict {}/tagger {}/text.txt --tokenizer none:at", "none"),
    "pretrain: no data": ("pretrain --data {}/none -o {}/run", "is not prepared data"),
    "pretrain: in the way": ("pretrain --data {}/prepared -o {}/deaf", "is not empty. Use --resume to continue"),
    "pretrain: a file": ("pretrain --data {}/prepared -o {}/taken", "is not a folder"),
    "pretrain: no config": ("pretrain {}/none.toml --data {}/prepared -o {}/run", "there is no such file"),
    "pretrain: another config": ("pretrain {}/text.txt --data {}/prepared -o {}/run", "is not a TOML file"),
    "pretrain: no setting": ("pretrain {}/bad.toml --data {}/prepared -o {}/run", "{}/bad.toml: unknown setting 'cell"),
    "pretrain: negatives": (
        "pretrain --data {}/prepared -o {}/run --softmax full --num-negative-samples 9",
        "--num-negative-samples was given without --softmax sampled. Leave it out, or add it.",
    ),
    "pretrain: filters": (
        "pretrain --data {}/prepared -o {}/run --characters none --filters 1 4 --num-highway 1",
        "--filters and --num-highway were given without --characters bytes",
    ),
    "finetune: no data": ("finetune --data {}/none -o {}/run", "is not prepared data"),
    "finetune: no old text": ("finetune --data {}/prepared --old {}/none -o {}/run", "{}/none: there is no"),
    "finetune: no softmax": ("finetune -m {}/deaf --data {}/prepared -o {}/run", "has no softmax"),
    "finetune: in the way": ("finetune --data {}/prepared -o {}/deaf", "is not empty"),
    "convert: no model": ("convert {}/no-model {}/new", "no model of that name"),
    "convert: no options": ("convert {}/text.txt {}/new --options {}/none", "{}/none: there is no"),
    "convert: in the way": ("convert {}/deaf {}/tagger", "exists already"),
    "convert: a file": ("convert {}/deaf {}/taken --force", "is a file, but a folder"),
    "reproduce: no data": ("reproduce table2 ner --train {}/none -o {}/run", "there is no such file"),
    "serve: no model": ("serve {}/no-model", "no model of that name"),
    "serve: damaged config": ("serve {}/damaged --port 0", "is not valid JSON"),
    "serve: no second model": ("serve {}/deaf {}/no-model", "no model of that name"),
    "serve: no keys": ("serve {}/deaf --api-key-file {}/none", "{}/none: there is no such file"),
    "finetune: a file": ("finetune --data {}/prepared -o {}/taken", "is not a folder"),
    "bench: no text": ("bench {}/none", "there is no such file"),
    "bench: no model": ("bench -m {}/no-model", "no model of that name"),
    # What is no regular file is not replaced, not even by force.
    "embed: over a pipe": ("embed {}/text.txt -o {}/pipe --to npy --force", "is a FIFO"),
    "perplexity: over a pipe": ("perplexity {}/text.txt --per-token {}/pipe --force", "is a FIFO"),
    "static: over a pipe": ("static {}/text.txt -o {}/pipe --force", "is a FIFO"),
    "predict: over a pipe": ("task predict {}/tagger {}/text.txt -o {}/pipe --force", "is a FIFO"),
    "evaluate: over a pipe": ("task evaluate {}/tagger {}/labelled -o {}/pipe --force", "is a FIFO"),
    "geometry: over a pipe": ("analyze geometry {}/text.txt -o {}/pipe --force", "is a FIFO"),
    "convert: over a pipe": ("convert {}/deaf {}/pipe --force", "is a file, but a folder would be written"),
    # Options that would be ignored.
    "explore: export and host": (
        "explore --export {}/new --host 127.0.0.1 --port 8010 --no-browser",
        "--host, --port and --no-browser were given together with --export or --single-file, which write a page",
    ),
    "explore: force": ("explore --force", "--force was given without --export or --single-file"),
    "explore: tokens": (
        "explore --tokens 200000 --sample --tokenizer unicode",
        "--tokens, --sample and --tokenizer were given without --text",
    ),
    "explore: no run": ("explore --run {}/none", "{}/none: there is no such folder"),
    "explore: a mix of answers": (
        "explore --export {}/new --answers-only --run {}/deaf", "--run {}/deaf was given together with --answers-only",
    ),
    "embed: force": ("embed 'The bank .' --force", "--force was given without -o"),
    "embed: file of a text": ("embed 'The bank .' --to npy --resume", "--to and --resume were given without -o"),
    "embed: encoding": ("embed 'The bank .' --encoding latin1", "--encoding was given with a quoted text"),
    "embed: format of none": ("embed {}/none.csv --format csv", "{}/none.csv: there is no such file"),
    "embed: rows": ("embed 'The bank .' --batch-rows 2", "--batch-rows was given with --state zero"),
    "embed: field": ("embed {}/text.txt -o {}/new.npy --field body", "field is 'body', but the text is read as text"),
    "prepare: field": ("prepare {}/text.txt -o {}/new --field body", "field is 'body', but the text is read as text"),
    "static: field": ("static {}/text.txt -o {}/new --field body", "field is 'body', but the text is read as text"),
    "perplexity: force": ("perplexity {}/text.txt --force", "--force was given without --per-token"),
    "neighbors: errors": (
        "analyze neighbors {}/deaf '[a] b' --static-errors skip", "--static-errors was given without static vectors",
    ),
    "table4: errors": (
        "reproduce table4 {}/deaf '[a] b' --static-errors skip", "--static-errors was given without static vectors",
    ),
    "neighbors: force": ("analyze neighbors {}/deaf '[a] b' --force", "--force was given without --output, so"),
    "geometry: force": ("analyze geometry {}/text.txt --force", "--force was given without --output or --figure"),
    "evaluate: force": ("task evaluate {}/tagger {}/labelled --force", "--force was given without --output"),
    "predict: force": ("task predict {}/tagger {}/text.txt --force", "--force was given without --output"),
    "predict: format": (
        "task predict {}/reader {}/text.txt --format csv --tokenizer unicode",
        "--format and --tokenizer were given for the task 'squad', whose input has a format of its own and heeds",
    ),
    "train: decay": (
        "task train ner --train {}/labelled -o {}/run --decay linear --decay-rate 0.9",
        "--decay-rate was given with --decay linear. Leave it out, or add --decay staircase",
    ),
    "train: epsilon": ("task train ner --train {}/labelled -o {}/run --adadelta-epsilon 1e-8", "with --optimizer adam"),
    "train: average": ("task train ner --train {}/labelled -o {}/run --no-average-warmup", "add --average-decay 0.999"),
    "train: static": ("task train ner --train {}/labelled -o {}/run --static-words 9", "without static vectors"),
    "train: cache": (
        "task train ner --train {}/labelled -o {}/run --train-bilm --cache {}/new", "--cache was given with --train",
    ),
    "train: encoder": (
        "task train ner --train {}/labelled -o {}/run --encoder cove --model {}/new --include-bilm", "has no biLM",
    ),
    "train: characters": (
        "task train ner --train {}/labelled -o {}/run --character-filters 0 --character-width 5", "without a char CNN",
    ),
    "score: settings": (
        "task score ner {}/labelled {}/labelled --epochs 3 --no-train-bilm",
        "--epochs and --no-train-bilm were given with 'elmo task score', which reads two files",
    ),
    "bench: size": ("bench -m {}/deaf --size small", "--size was given together with --model {}/deaf"),
    "static: workers": (
        "static {}/text.txt -o {}/new --kind glove --workers 2",
        "--workers was given with --kind glove, but only word2vec and fasttext",
    ),
    "static: senses": (
        "static {}/text.txt -o {}/new --senses 2 --new-sense-below -0.5",
        "--senses and --new-sense-below were given with --kind word2vec, but only mssg",
    ),
    "static: n-grams": ("static {}/text.txt -o {}/new --buckets 9", "--buckets was given with --kind word2vec"),
    "finetune: default": (
        "finetune --data {}/prepared -o {}/run --resume --epochs 1", "--epochs was given together with --resume",
    ),
    "index: seed": ("index {}/text.txt -o {}/new --seed 0", "--seed was given without --sample"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that are what they seem as far as is looked at early; no model in it could be loaded."""
    path = tmp_path_factory.mktemp("early")
    (path / "text.txt").write_text("the bank was steep .\n")
    (path / "labelled").write_text(LABELLED)
    (path / "taken").write_text("somebody's\n")
    (path / "bad.toml").write_text("cellsize = 1\n")
    os.mkfifo(path / "pipe")
    bundled = Path(elmo.__file__).parent / "bundled" / "small-en"
    for name in ("deaf", "damaged", "allennlp", "tagger", "reader", "prepared"):
        (path / name).mkdir()
    (path / "deaf" / "config.json").write_bytes((bundled / "config.json").read_bytes())
    (path / "deaf" / "model.safetensors").write_bytes(b"")
    (path / "damaged" / "config.json").write_text("{")
    (path / "damaged" / "model.safetensors").write_bytes(b"")
    (path / "allennlp" / "options.json").write_text(json.dumps({"lstm": {"n_layers": 1}}))
    (path / "allennlp" / "weights.hdf5").write_bytes(b"")
    config = {"format_version": 2, "task": "ner", "settings": {}, "vocabulary": {}, "bilm": None}
    config |= {"num_trained_words": 0, "metadata": {}}
    (path / "tagger" / "config.json").write_text(json.dumps(config))
    (path / "reader" / "config.json").write_text(json.dumps(config | {"task": "squad"}))
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
        cwd=folder, check=True,
    )  # fmt: skip
    assert sorted(path.name for path in folder.rglob("*")) == before, "something was written"
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def _arguments(line: str, folder: Path) -> list[str]:
    quoted = line.split("'")
    parts = [part.split() if place % 2 == 0 else [part] for place, part in enumerate(quoted)]
    return [part.replace("{}", str(folder)) for some in parts for part in some]


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_before_torch_is_imported(case: str, outcomes: dict, folder: Path) -> None:
    code, message = outcomes[case]
    assert CASES[case][1].replace("{}", str(folder)) in message
    assert code == 2
    assert "Traceback" not in message and "ImportError" not in message


def test_every_verb_that_loads_a_model_has_cases() -> None:
    tried = {line.split()[0] for line, _ in CASES.values()}
    without_torch = {"models", "inspect", "download", "prepare", "static", "doctor"}
    assert set(VERBS) == without_torch | tried


def test_every_path_among_the_arguments_has_a_role() -> None:
    """A field of a path or model that nobody thought of would be checked late, or taken for an input."""
    found = {}
    parts = [*(f"analyze.{name}" for name in ANALYSES), *(f"task.{name}" for name in ("train", "apply", "score"))]
    for name in (*VERBS, *parts):
        module = import_module(f"elmo.cli.verbs.{name}")
        for arguments in vars(module).values():
            # A verb that is a room has its arguments in a file of it.
            is_own = getattr(arguments, "__module__", "").startswith(module.__name__)
            if is_dataclass(arguments) and isinstance(arguments, type) and is_own:
                found |= {(name, field): role for field, role in _declared(arguments)}
    outputs = {place: role for place, role in found.items() if place[1] in ("output", "cache", "per_token", "figure")}
    assert set(outputs.values()) <= {"output file", "output folder", "kept folder", "unchecked"}
    # Every other one is a file that is read. A new name here must be one, too, or get an `As`.
    assert {field for (_, field), role in found.items() if role == "input"} == {
        "api_key_file", "config", "data", "dev", "gold", "mssg", "old", "options", "predicted", "records",
        "softmax", "static", "test", "text", "texts", "token_embeddings", "train", "valid", "vocabulary",
    }  # fmt: skip
    assert {role for place, role in found.items() if place[1] == "model"} <= {"model", "named model", "unchecked"}


def _declared(arguments: type) -> list[tuple[str, str]]:
    hints = get_type_hints(arguments, include_extras=True)
    groups = [found for found in map(_bare, hints.values()) if is_dataclass(found)]
    return [*declared_roles(arguments), *(found for group in groups for found in _declared(group))]


def _bare(annotation: object) -> object:
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


@dataclass(frozen=True)
class Anything:
    """Arguments of no verb."""

    train: Path
    output: Annotated[Path | None, As("output file")] = None
    force: bool = False


@pytest.mark.parametrize("quiet", [True, False])
def test_a_published_model_is_downloaded_last_of_all_and_quietly_if_asked(tmp_path, monkeypatch, quiet) -> None:
    @dataclass
    class Arguments:
        output: Path
        model: str = "original"
        quiet: bool = False

    asked = []
    monkeypatch.setattr(hub, "resolve", lambda model, *, download=True, progress=True: asked.append(progress))
    monkeypatch.setattr("elmo.weights.describe.outline", lambda model: None)
    check(Arguments(tmp_path / "new", quiet=quiet))
    assert asked == [not quiet]
    (tmp_path / "there").touch()
    with pytest.raises(OutputError):
        check(Arguments(tmp_path / "there"))
    assert len(asked) == 1


def test_every_verb_that_takes_long_can_be_quiet() -> None:
    short = {"models", "inspect", "substitutes", "doctor"}
    of_actions = {"task": Train, "analyze": RecordFlags, "pretrain": Machine, "finetune": Machine}
    for verb in set(VERBS) - short:
        arguments = of_actions.get(verb) or import_module(f"elmo.cli.verbs.{verb}").Arguments
        assert "quiet" in {field.name for field in fields(arguments)}, verb


def test_a_path_without_a_role_is_an_input(tmp_path: Path) -> None:
    assert [role for _, role, _ in roles(Anything(tmp_path))] == ["input", "output file"]
    with pytest.raises(TextError, match="there is no such file"):
        check(Anything(tmp_path / "none"))


def test_an_output_is_refused_where_nothing_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_text("a\n")
    check(Anything(text, tmp_path / "new" / "folders" / "out"))
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    with pytest.raises(OutputError, match="may not write to the folder"):
        check(Anything(text, tmp_path / "out"))


def test_an_input_is_refused_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_text("a\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(TextError, match="don't have permission to read it"):
        check(Anything(text))


def test_an_outline_agrees_with_the_model(model_folder: Path, language_model: Checkpoint, tmp_path: Path) -> None:
    found = outline(str(model_folder))
    assert (found.num_layers, found.has_softmax) == (language_model.config.num_layers + 1, True)
    (model_folder / "softmax.safetensors").unlink()
    assert outline(str(model_folder)).has_softmax is False
    with pytest.raises(ElmoError):
        outline(str(tmp_path / "none"))


def test_a_model_of_the_hub_has_no_outline_before_it_is_there() -> None:
    pytest.importorskip("huggingface_hub")
    assert outline("somebody/not-downloaded").num_layers is None


def test_a_right_command_passes(model_folder: Path, language_model: Checkpoint, tmp_path: Path) -> None:
    """The checks refuse nothing that works: force over an existing model, and one layer of all."""
    np.testing.assert_equal(outline(model_folder).num_layers, 3)
    write(language_model, tmp_path / "other")
    from elmo.cli.main import main

    assert main(["convert", str(model_folder), str(tmp_path / "other"), "--force", "--quiet"]) == 0
    assert main(["embed", "the bank", "-m", str(model_folder), "--layers", "-3", "--json"]) == 0


def test_names_that_json_can_not_say_are_refused_where_answers_say_them() -> None:
    require_utf8("model", Path("/tmp/모델"), None)
    for name in ("m\udcff", Path("folder\udcff/model")):
        with pytest.raises(ConfigError, match="the name is not UTF-8 text.*make a link of another name"):
            require_utf8("model", name)
