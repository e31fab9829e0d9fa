"""`elmo task`: train, evaluate and use a model of one of the paper's tasks, with ELMo or without."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TextIO, TypeVar

import tyro

from elmo.cli.task_settings import settings_beneath
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.tasks.task import TASKS, default_settings, require_known

Settings = TypeVar("Settings")
ComputeIn = Literal["float32", "bfloat16", "int8", "auto"]


@dataclass(frozen=True)
class Train(Generic[Settings]):
    """Train a model on labelled files, once for each seed; scores with mean and spread, predictions and the best model
    are in the run folder. Ctrl-C and SIGTERM save everything; --resume goes on from there."""

    train: Path
    """Labelled training data; .gz, .xz and .bz2 are unpacked."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder of the run."""
    settings: Annotated[Settings, tyro.conf.arg(name="")]
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags beside it win."""
    dev: Path | None = None
    """Labelled data that decides which epoch is the best (default: a tenth of the training data, held out)."""
    test: Path | None = None
    """Labelled data that is scored once, at the end."""
    seeds: tuple[int, ...] = (1,)
    """A training for each."""
    cache: Path | None = None
    """Folder for the biLM's layers, computed once; any number of runs may share it (default: in the run folder)."""
    cache_dtype: Literal["float32", "float16"] = "float32"
    """How they are stored."""
    include_bilm: tyro.conf.FlagCreatePairsOff[bool] = False
    """Put a copy of the biLM into the saved models."""
    resume: tyro.conf.FlagCreatePairsOff[bool] = False
    """Go on with the run in the output folder, with its own settings unless a file of settings is given."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the scores as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress and no table."""


@dataclass(frozen=True)
class Evaluate:
    """Score a trained model on a labelled file."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")]
    """Folder of a run that has ended, or of a task model."""
    data: Annotated[Path, tyro.conf.Positional]
    """Labelled file."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File for the predictions, in the task's official format."""
    model: str | None = None
    """Where the biLM is, if it isn't where it was in training."""
    device: Device = "auto"
    """Where to compute."""
    dtype: ComputeIn = "float32"
    """What the factors of the biLM's products are rounded to, as in elmo embed."""
    force: bool = False
    """Replace an existing file of predictions."""
    json: bool = False
    """Print the scores as JSON."""


@dataclass(frozen=True)
class Predict:
    """Use a trained model on text, one sentence per line."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")]
    """Folder of a run that has ended, or of a task model."""
    text: Annotated[str, tyro.conf.Positional] = "-"
    """File of text; - is standard input."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """File for the predictions (default: standard output)."""
    tokenizer: Literal["whitespace", "unicode"] = "whitespace"
    """How a line becomes tokens: at whitespace, or by rules for text that isn't tokenized."""
    encoding: str = "utf-8"
    """What the text is written in."""
    errors: Literal["strict", "skip"] = "strict"
    """A line that can't be decoded: strict stops there; skip lists it and takes it for an empty sentence."""
    model: str | None = None
    """Where the biLM is, if it isn't where it was in training."""
    device: Device = "auto"
    """Where to compute."""
    dtype: ComputeIn = "float32"
    """What the factors of the biLM's products are rounded to, as in elmo embed."""
    force: bool = False
    """Replace an existing file."""
    json: bool = False
    """A line of JSON for each sentence: its tokens and the prediction."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    actions = {"train": _train, "evaluate": _evaluate, "predict": _predict}
    if argv[:1] in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    if argv[0] not in actions:
        raise ConfigError(f"elmo task: {argv[0]!r} is none of its actions, which are: {', '.join(actions)}.")
    if argv[1:2] in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if argv[1:] else sys.stderr)
        return 0 if argv[1:] else 2
    require_known(argv[1])
    return actions[argv[0]](argv[1], argv[2:])


def _help() -> str:
    width = max(map(len, TASKS))
    return "\n".join(
        [
            "usage: elmo task train TASK [CONFIG.toml] --train FILE [--dev FILE] [--test FILE] -o RUN ...",
            "       elmo task evaluate TASK RUN FILE ...",
            "       elmo task predict TASK RUN TEXT ...",
            "",
            "Train a model of a task on your own files, with ELMo or without; score it; use it on text.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in TASKS.items()),
            "",
            "  elmo task train TASK --help  every setting of a task",
        ]
    )


def _train(task: str, argv: list[str]) -> int:
    arguments = _train_arguments(task, argv, default_settings(task))
    # The files whose settings are the defaults of the flags are themselves named by flags: so twice.
    begun = arguments.output / "run.json" if arguments.resume else None
    arguments = _train_arguments(task, argv, settings_beneath(task, arguments.config, begun))
    # Here and below, so that --help does not wait for torch.
    from elmo.tasks.train.train import Files, train

    summary = train(
        task,
        arguments.settings,
        Files(arguments.train, arguments.dev, arguments.test),
        arguments.output,
        seeds=arguments.seeds,
        cache=arguments.cache,
        cache_dtype=arguments.cache_dtype,
        include_bilm=arguments.include_bilm,
        resume=arguments.resume,
        quiet=arguments.quiet,
    )
    if arguments.json:
        print(json.dumps(summary, indent=2, ensure_ascii=False))
    elif not arguments.quiet:
        print(_summary(summary, arguments.output))
    return 0


def _train_arguments(task: str, argv: list[str], settings: Any) -> Train[Any]:
    """The arguments, with `settings` where no flag says otherwise."""
    return tyro.cli(
        Train[type(settings)],  # type: ignore[misc]
        args=argv,
        prog=f"elmo task train {task}",
        config=(tyro.conf.OmitArgPrefixes,),
        default=Train(train=tyro.MISSING, output=tyro.MISSING, settings=settings),
    )


def _summary(summary: dict[str, Any], run: Path) -> str:
    lines = [f"{run}: finished, the best model is {run / 'model'}"]
    for data in ("dev", "test"):
        if data in summary:
            found = summary[data]
            spread = found["standard_deviation"]
            scores = ", ".join(f"{score:.2f}" for score in found["scores"])
            shown = f"{found['mean']:.2f}" + ("" if spread is None else f" +- {spread:.2f} (seeds: {scores})")
            lines.append(f"{data:5} {summary['metric']} {shown}")
    for mix in summary["per_seed"][0]["mix_weights"]:
        weights = ", ".join(f"{weight:.3f}" for weight in mix["weights"])
        lines.append(f"mix at the {mix['placement']}: layers {weights}, gamma {mix['gamma']:.3f}")
    return "\n".join(lines)


def _evaluate(task: str, argv: list[str]) -> int:
    arguments = tyro.cli(Evaluate, args=argv, prog=f"elmo task evaluate {task}", config=(tyro.conf.FlagCreatePairsOff,))
    from elmo.tasks.train.apply import evaluate

    saved = _loaded(task, arguments)
    scores, lines = evaluate(saved, arguments.data)
    if arguments.output is not None:
        with _result_file(arguments.output, arguments.force) as file:
            file.writelines(line + "\n" for line in lines)
    if arguments.json:
        print(json.dumps(scores, indent=2, ensure_ascii=False))
    else:
        print(_table_of_scores(scores))
    return 0


def _table_of_scores(scores: dict[str, Any], name: str = "all", depth: int = 0) -> str:
    figures = {key: value for key, value in scores.items() if not isinstance(value, dict)}
    shown = "  ".join(
        f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()
    )
    lines = [f"{'  ' * depth}{name:14}{shown}"] if figures else []
    for key, value in scores.items():
        if isinstance(value, dict):
            lines += [_table_of_scores(part, label, depth + 1) for label, part in _parts(key, value)]
    return "\n".join(lines)


def _parts(key: str, value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """A table of tables is shown as its tables, a table of figures under its own name."""
    if all(isinstance(part, dict) for part in value.values()):
        return list(value.items())
    return [(key, value)]


def _predict(task: str, argv: list[str]) -> int:
    arguments = tyro.cli(Predict, args=argv, prog=f"elmo task predict {task}", config=(tyro.conf.FlagCreatePairsOff,))
    from elmo.tasks.train.apply import predict
    from elmo.text.sentences import check_is_text_file, read_sentences
    from elmo.text.tokenizer import tokenizer

    check_is_text_file(arguments.text)
    saved = _loaded(task, arguments)
    skipped: list[int] = []

    def tell(number: int, message: str) -> None:
        print(f"skipped: {message}", file=sys.stderr)
        skipped.append(number)

    told, asked = tee(
        read_sentences(
            arguments.text,
            encoding=arguments.encoding,
            errors=arguments.errors,
            tokenize=tokenizer(arguments.tokenizer),
            on_bad_line=tell,
        )
    )
    with _result_file(arguments.output, arguments.force) as file:
        for tokens, (prediction, lines) in zip(told, predict(saved, asked), strict=True):
            if arguments.json:
                lines = [json.dumps({"tokens": tokens, "prediction": prediction}, ensure_ascii=False)]
            file.writelines(line + "\n" for line in lines)
    return 1 if skipped else 0


def _loaded(task: str, arguments: Evaluate | Predict) -> Any:
    from elmo.tasks.task_model import load

    saved = load(arguments.folder, model=arguments.model, device=arguments.device, dtype=arguments.dtype)
    if saved.task.name != task:
        raise ConfigError(
            f"{arguments.folder}: is a model of the task {saved.task.name!r}, not {task!r}. Name that task."
        )
    return saved


@contextmanager
def _result_file(path: Path | None, force: bool) -> Iterator[TextIO]:
    """Standard output, or a file that appears whole or not at all."""
    if path is None:
        yield sys.stdout
        return
    from elmo.disk.atomic import new_file

    with new_file(path, size=0, force=force) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        yield file
