"""`elmo task train`: labelled files -> a trained model, its scores and predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal

import tyro

from elmo.cli.arguments import Switch, given_options, overridden, parsed
from elmo.cli.output import print_report
from elmo.cli.verbs.task.score import print_note, table_of_scores
from elmo.disk.json_file import read_record, read_toml
from elmo.errors import ConfigError
from elmo.process.resources import keep_freed_memory
from elmo.tasks.registry import AnyTask, find
from elmo.tasks.settings import S, with_table

if TYPE_CHECKING:
    from elmo.tasks.train.job import AnyJob


@dataclass(frozen=True, kw_only=True)
class Training(Generic[S]):
    """What every training of a task's models is told."""

    train: Path
    """Labelled training data; .gz, .xz, .bz2 and .zst are unpacked."""
    settings: Annotated[S, tyro.conf.arg(name="")]
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags override it."""
    dev: Path | None = None
    """Labelled data for choosing the best epoch (default: a tenth of the training data, held out)."""
    test: Path | None = None
    """Labelled data to score once, at the end of each training."""
    cache: Path | None = None
    """Folder for the biLM's layers, which are computed once; any number of runs can share it (default: in the output
    folder)."""
    cache_dtype: Literal["float32", "float16"] = "float32"
    """How the layers are stored. float16 halves the files and rounds each number by at most 1 part in 2,000."""
    resume: Switch = False
    """Continue in the output folder with its own settings, unless a settings file is given; nothing is trained
    twice."""
    json: Switch = False
    """Print the results as JSON."""
    quiet: Switch = False
    """No progress and no tables."""

    def job(self, task: AnyTask, settings: Any, output: Path, **options: Any) -> "AnyJob":
        """What is trained. `options`: further ones of `RunOptions`."""
        from elmo.tasks.train.job import Files, Job, RunOptions

        own = RunOptions(cache=self.cache, cache_dtype=self.cache_dtype, resume=self.resume, **options)
        return Job(task, settings, Files(self.train, self.dev, self.test), output, own)


@dataclass(frozen=True, kw_only=True)
class Train(Training[S], Generic[S]):
    """Train a model on labelled files, once for each seed. The run folder contains the scores with their mean and
    standard deviation, the predictions, and the best model. Ctrl-C and SIGTERM save everything; --resume continues."""

    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run."""
    seeds: tuple[int, ...] = (1,)
    """Random seeds; one model is trained for each. Name all of them again with --resume."""
    include_bilm: Switch = False
    """Put a copy of the biLM into the saved models."""


def train(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    task = find(argv[0])
    arguments = parsed(
        Train[task.settings],
        argv[1:],
        f"task train {argv[0]}",
        flag_pairs=True,
        default=Train(train=tyro.MISSING, output=tyro.MISSING, settings=task.settings()),
        settings_later=True,
    )
    settings = chosen_settings(task, arguments, argv[1:], arguments.output / "run.json")
    options = {"seeds": arguments.seeds, "include_bilm": arguments.include_bilm}
    job = arguments.job(task, settings, arguments.output, **options)
    job.require_free()  # before torch is loaded
    from elmo.tasks.train.train import train

    keep_freed_memory()
    summary = train(job, progress=not arguments.quiet)
    text = table_of_summary(summary, arguments.output)
    print_report(summary, text, as_json=arguments.json, quiet=arguments.quiet)
    _print_notes(task, summary, str(arguments.output))
    return 0


def _print_notes(task: AnyTask, summary: dict[str, Any], run: str) -> None:
    from elmo.tasks.rules import remark_on_rules
    from elmo.tasks.train.task_data import remarks_on_trained_data

    best = next(outcome for outcome in summary["per_seed"] if outcome["seed"] == summary["best_seed"])
    if data := next((data for data in ("test", "dev") if best.get(data)), None):
        for remark in task.remarks(best[data]):
            print_note(remark, f"{run}, {data} data")
    for remark in remarks_on_trained_data(summary.get("trained_on", {})):
        print_note(remark, run)
    dev = summary.get("dev")
    if dev and (remark := remark_on_rules(summary["rules"], summary["metric"], dev["mean"])):
        print_note(remark, run)


def chosen_settings(
    task: AnyTask,
    arguments: Training[Any],
    argv: Sequence[str],
    begun: Path,
) -> Any:
    """The task's own settings, overridden by a resumed run's, then by a TOML file's, then by flags; checked.

    `begun`: the settings file of its run. ConfigError if it is another task's.
    """
    settings = task.settings()
    if arguments.resume and begun.is_file():  # else the job says that there is none
        noted = read_record(begun)
        if (own := noted.get("task")) != task.name:
            raise ConfigError(f"{begun}: the run is of the task {own!r}, not {task.name!r}. Name that task.")
        settings = with_table(settings, noted["settings"], str(begun))
    if arguments.config is not None:
        settings = with_table(settings, read_toml(arguments.config), str(arguments.config))
    return overridden(settings, arguments.settings, given_options(argv))


def table_of_summary(summary: dict[str, Any], run: Path) -> str:
    """The result of a training: scores over the seeds, the rules' scores, the best seed's labels, the mixes."""
    lines = [f"{run}: finished, the best model is {run / 'model'}"]
    best = next(outcome for outcome in summary["per_seed"] if outcome["seed"] == summary["best_seed"])
    for data in ("dev", "test"):
        if data in summary:
            lines.append(f"{data:5} {summary['metric']} {_mean_and_deviation(summary[data])}")
    for rule in summary["rules"]:
        figures = ", ".join(f"{data} {rule[data]:.2f}" for data in ("dev", "test") if data in rule)
        lines.append(f"{rule['label']}: {figures}")
    data = "test" if "test" in summary else "dev"
    if isinstance(best.get(data, {}).get("per_label"), Mapping):
        lines.append(f"{data}, seed {summary['best_seed']}:")
        lines.append(table_of_scores(best[data]))
    for mix in summary["per_seed"][0]["mix_weights"]:
        weights = ", ".join(f"{weight:.3f}" for weight in mix["weights"])
        lines.append(f"mix at the {mix['placement']}: layers {weights}, gamma {mix['gamma']:.3f}")
    return "\n".join(lines)


def _mean_and_deviation(found: Mapping[str, Any]) -> str:
    deviation = found["standard_deviation"]
    scores = ", ".join(f"{score:.2f}" for score in found["scores"])
    return f"{found['mean']:.2f}" + ("" if deviation is None else f" +- {deviation:.2f} (seeds: {scores})")
