"""`elmo task`: train, score and use a model of a task, of the paper or your own, with ELMo or without."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TextIO

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.arguments.given_options import given_options, options_of, refuse_ignored
from elmo.cli.early_checks import As
from elmo.cli.examples import examples_of
from elmo.cli.report import print_report
from elmo.cli.task_settings import settings_beneath
from elmo.cli.text_input import ReadingFlags
from elmo.cli.verbs.task.heeded import require_heeded
from elmo.cli.verbs.task.scores import table_of_scores, table_of_summary
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.process.resources import keep_freed_memory
from elmo.tasks.registry import AnyTask, find, is_known, summaries
from elmo.tasks.settings import FitSettings, S, TokenSettings
from elmo.text.files.text_file import STDIN
from elmo.text.reading.settings import Reading, text_files

ComputeIn = Literal["float32", "bfloat16", "int8", "auto"]
Flag = tyro.conf.FlagCreatePairsOff[bool]


@dataclass(frozen=True)
class Train(Generic[S]):
    """Train a model on labelled files, once for each seed. The run folder contains the scores with their mean and
    standard deviation, the predictions, and the best model. Ctrl-C and SIGTERM save everything; --resume continues."""

    train: Path
    """Labelled training data; .gz, .xz and .bz2 are unpacked."""
    output: Annotated[Path, As("kept folder"), tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run."""
    settings: Annotated[S, tyro.conf.arg(name="")]
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags override it."""
    dev: Path | None = None
    """Labelled data for choosing the best epoch (default: a tenth of the training data, held out)."""
    test: Path | None = None
    """Labelled data to score once, at the end."""
    seeds: tuple[int, ...] = (1,)
    """Random seeds; one model is trained for each."""
    cache: Path | None = None
    """Folder for the biLM's layers, which are computed once; any number of runs can share it (default: in the run
    folder)."""
    cache_dtype: Literal["float32", "float16"] = "float32"
    """How the layers are stored."""
    include_bilm: Flag = False
    """Put a copy of the biLM into the saved models."""
    resume: Flag = False
    """Continue the run in the output folder with its own settings, unless a settings file is given."""
    json: Flag = False
    """Print the scores as JSON."""
    quiet: Flag = False
    """No progress and no table."""


@dataclass(frozen=True)
class _Loading:
    """How a saved model is loaded."""

    model: Annotated[str | None, As("named model")] = None
    """Where the biLM is, if it isn't where it was in training."""
    task: str | None = None
    """package.module:TASK, the task of the model, if it isn't installed."""
    encoder: str | None = None
    """package.module:function, the encoder of the model, if it isn't installed."""
    device: Device = "auto"
    """Where to compute."""
    ensemble: Annotated[tuple[Path, ...], As("task model"), tyro.conf.arg(metavar="RUN [RUN ...]")] = ()
    """More models of the same task, whose probability distributions are averaged with those of the first RUN."""
    dtype: ComputeIn = "float32"
    """Precision of the biLM's matrix products, as in 'elmo embed'."""
    force: Flag = False
    """Replace an existing file of predictions."""
    json: Flag = False
    """Print JSON: the scores (evaluate), or one line for each example (predict)."""
    quiet: Flag = False
    """No progress."""


@dataclass(frozen=True)
class Evaluate(_Loading):
    """Score a trained model on a labelled file."""

    folder: Annotated[Path, As("task model"), tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = tyro.MISSING
    """Folder of a finished run, or of a task model."""
    data: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = tyro.MISSING
    """Labelled file."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File for the predictions, in the task's official format (srl: that of srl-eval.pl if the file ends in .props)."""


@dataclass(frozen=True)
class Predict(_Loading):
    """Predict on unlabelled input, for most tasks one sentence per line. The predictions for several files follow one
    another; with --json, each names its file."""

    folder: Annotated[Path, As("task model"), tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = tyro.MISSING
    """Folder of a finished run, or of a task model."""
    text: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[FILE ...]")] = (STDIN,)
    """Unlabelled files or patterns like 'data/*.txt'; - is standard input."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File for the predictions (default: standard output). srl: .conll writes columns even for text, .props the format
    of srl-eval.pl."""
    reading: ReadingFlags = field(default_factory=Reading)


@dataclass(frozen=True)
class Score(Generic[S]):
    """Compute the official scores of a file of predictions, from any system."""

    gold: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GOLD")]
    """Labelled file."""
    predicted: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PREDICTIONS")]
    """File of predictions for the labelled file, in the task's official format."""
    settings: Annotated[S, tyro.conf.arg(name="")]
    json: Flag = False
    """Print the scores as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    actions = {"train": _train, "evaluate": _evaluate, "predict": _predict, "score": _score}
    asks_for_help = argv[-1:] in ([], ["-h"], ["--help"]) and len(argv) < 2
    is_of_a_task = argv[:1] in (["train"], ["score"])
    if asks_for_help or (is_of_a_task and argv[1:2] in ([], ["-h"], ["--help"])):
        is_asked = bool({"-h", "--help"} & set(argv))
        print(_help(), file=sys.stdout if is_asked else sys.stderr)
        return 0 if is_asked else 2
    if argv[0] not in actions:
        raise ConfigError(f"elmo task: there is no action {argv[0]!r}. The actions are: {', '.join(actions)}.")
    return actions[argv[0]](argv[1:])


def _help() -> str:
    tasks = summaries()
    width = max(map(len, tasks))
    return "\n".join(
        [
            "usage: elmo task train TASK [CONFIG.toml] --train FILE [--dev FILE] [--test FILE] -o RUN ...",
            "       elmo task evaluate RUN FILE ...",
            "       elmo task predict RUN [FILE ...] ...",
            "       elmo task score TASK GOLD PREDICTIONS ...",
            "",
            "Train a model of a task on your own files, with ELMo or without; score it; use it on text; or score the",
            "predictions of any system. RUN is the output folder of a training, which knows its task.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in tasks.items()),
            "",
            "A task of your own is named as package.module:TASK.",
            "",
            "  elmo task train TASK --help  every setting of a task",
            "",
            examples_of("task"),
        ]
    )


def _train(argv: list[str]) -> int:
    task = find(argv[0])
    arguments = _parsed(argv, task, task.settings(), is_final=False)
    # The files whose settings are the defaults of the flags are themselves named by flags: so twice.
    begun = arguments.output / "run.json" if arguments.resume else None
    arguments = _parsed(argv, task, settings_beneath(task, arguments.config, begun))
    # Here and below, so that --help does not wait for numpy and torch.
    from elmo.tasks.train.job import Files, Job, RunOptions

    options = RunOptions(
        seeds=arguments.seeds,
        cache=arguments.cache,
        cache_dtype=arguments.cache_dtype,
        include_bilm=arguments.include_bilm,
        resume=arguments.resume,
    )
    files = Files(arguments.train, arguments.dev, arguments.test)
    job = Job(task, arguments.settings, files, arguments.output, options)
    task.check_settings(job.settings)
    job.require_free()
    from elmo.tasks.rules import remark_on_rules
    from elmo.tasks.train.task_data import remarks_on_trained_data
    from elmo.tasks.train.train import train

    keep_freed_memory()
    summary = train(job, progress=not arguments.quiet)
    text = table_of_summary(summary, arguments.output)
    print_report(summary, text, as_json=arguments.json, quiet=arguments.quiet)
    best = next(outcome for outcome in summary["per_seed"] if outcome["seed"] == summary["best_seed"])
    for data in ("test", "dev"):
        if best.get(data):
            _remark(task, best[data], f"{arguments.output}, {data} data")
            break
    for remark in remarks_on_trained_data(summary.get("trained_on", {})):
        _note(remark, str(arguments.output))
    dev = summary.get("dev")
    if dev and (remark := remark_on_rules(summary["rules"], summary["metric"], dev["mean"])):
        _note(remark, str(arguments.output))
    return 0


def _parsed(argv: list[str], task: AnyTask, settings: Any, *, is_final: bool = True) -> Train[Any]:
    """The arguments, with `settings` where no flag says otherwise."""
    return parsed(
        Train[task.settings],
        argv[1:],
        f"task train {argv[0]}",
        flag_pairs=True,
        default=Train(train=tyro.MISSING, output=tyro.MISSING, settings=settings),
        is_final=is_final,
        checks_values=is_final,
        require_sense=_require_heeded if is_final else None,
    )


def _require_heeded(arguments: Train[Any], given: list[str]) -> None:
    require_heeded(arguments.settings, given)


def _evaluate(argv: list[str]) -> int:
    arguments = parsed(Evaluate, _without_task(argv), "task evaluate")
    from elmo.tasks.train.apply import evaluate
    from elmo.tasks.train.job import REMEMBERED, is_training_data

    saved = _loaded(arguments)
    scores, pairs = evaluate(saved, arguments.data, progress=not arguments.quiet)
    if is_training_data(arguments.folder, arguments.data):
        _note(f"it is the file that the model was trained on: {REMEMBERED}", str(arguments.data))
    if arguments.output is not None:
        with _result_file(arguments.output, arguments.force) as file:
            file.writelines(line + "\n" for line in saved.task.write_file(arguments.output, pairs))
    _print_scores(saved.task, scores, arguments.json, str(arguments.data))
    return 0


def _predict(argv: list[str]) -> int:
    arguments = parsed(Predict, _without_task(argv), "task predict")
    arguments.reading.check()
    from elmo.cli.verbs.task.input import unlabelled_files

    # Before the model is loaded, so that a bad line or an odd text shows at once.
    task = None if arguments.task is None else find(arguments.task)
    files = unlabelled_files(
        text_files(arguments.text), arguments.reading, arguments.folder, task, arguments.model, given_options(argv)
    )
    saved = _loaded(arguments)
    from elmo.tasks.train.apply import predict

    # Predictions that appear on a terminal show by themselves how far it is.
    is_seen = arguments.output is None and sys.stdout.isatty()
    pairs = predict(saved, files.examples, progress=not arguments.quiet and not is_seen)
    if arguments.json:
        lines = (json.dumps({**files.facts(), **saved.task.to_json(*pair)}, ensure_ascii=False) for pair in pairs)
    elif arguments.output is None:
        lines = saved.task.write(pairs)
    else:
        lines = saved.task.write_file(arguments.output, pairs)
    with _result_file(arguments.output, arguments.force) as file:
        file.writelines(line + "\n" for line in lines)
    return 1 if files.bad_lines else 0


def _score(argv: list[str]) -> int:
    task = find(argv[0])
    arguments = parsed(
        Score[task.settings],
        argv[1:],
        f"task score {argv[0]}",
        flag_pairs=True,
        default=Score(gold=tyro.MISSING, predicted=tyro.MISSING, settings=task.settings()),
        require_sense=_require_scoring,
    )
    scores = task.score_files(arguments.gold, arguments.predicted, arguments.settings)
    _print_scores(task, scores, arguments.json, str(arguments.predicted))
    return 0


def _require_scoring(_: Score[Any], given: list[str]) -> None:
    why = "with 'elmo task score', which reads two files and needs no model"
    refuse_ignored(given, options_of(TokenSettings) | options_of(FitSettings), why, "train with 'elmo task train'")


def _print_scores(task: AnyTask, scores: Mapping[str, Any], as_json: bool, source: str) -> None:
    print(json.dumps(scores, indent=2, ensure_ascii=False) if as_json else table_of_scores(scores))
    _remark(task, scores, source)


def _remark(task: AnyTask, scores: Mapping[str, Any], source: str) -> None:
    for remark in task.remarks(scores):
        _note(remark, source)


def _note(remark: str, source: str) -> None:
    print(f"note: {source}: {remark}", file=sys.stderr)


def _without_task(argv: list[str]) -> list[str]:
    """Without the name of a task before RUN, which was needed once: the model knows its task."""
    is_task = argv[:1] != [] and is_known(argv[0]) and not Path(argv[0]).exists()
    return argv[1:] if is_task else argv


def _loaded(arguments: Evaluate | Predict) -> Any:
    from elmo.tasks.ensemble import load_ensemble

    return load_ensemble(
        [arguments.folder, *arguments.ensemble],
        task=None if arguments.task is None else find(arguments.task),
        encoder=arguments.encoder,
        model=arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
    )


@contextmanager
def _result_file(path: Path | None, force: bool) -> Iterator[TextIO]:
    """Standard output, or a file that is written atomically."""
    if path is None:
        yield sys.stdout
        return
    from elmo.disk.atomic import new_file

    with new_file(path, size=0, force=force) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        yield file
