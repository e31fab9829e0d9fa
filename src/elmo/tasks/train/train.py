"""train: files -> a trained model for each seed, its predictions and scores.

run.json             task, settings, files with their hashes, the biLM's hash
env.json             versions and machine
cache/               the biLM's layers (unless another cache is named)
seed-1/              metrics.jsonl, model/, scores.json, predictions of dev and test in the official format
scores.json          mean, standard deviation and single scores over the seeds
model/               the model of the seed with the best dev score
"""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from elmo.disk.atomic import new_file, new_folder
from elmo.disk.folder_lock import locked
from elmo.errors import ConfigError, Interrupted, OutputError
from elmo.model.bilm import BiLM
from elmo.process.device import chosen_device
from elmo.process.environment import environment
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.static.vectors import StaticVectors
from elmo.tasks.settings import to_table
from elmo.tasks.task import Task, find
from elmo.tasks.task_model import SavedTaskModel, save
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.layer_store import StoredType
from elmo.tasks.tokens.representation import TokenRepresentation
from elmo.tasks.train.example_batches import share_of
from elmo.tasks.train.fit import fit, predict_all
from elmo.tasks.train.fit_folder import FitFolder
from elmo.tasks.train.run_facts import require_same_run, write_json_file
from elmo.tasks.train.seeds import Outcome, over_seeds, require_seeds
from elmo.version import __version__
from elmo.weights.fingerprint import file_hash

_DEV_SHARE = 0.1


@dataclass(frozen=True)
class Files:
    """A task's data."""

    train: Path
    dev: Path | None = None
    """None: a tenth of the training examples is held out in its place."""
    test: Path | None = None

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each file there is."""
        named = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: file_hash([path]) for name, path in named.items() if path is not None}


@dataclass(frozen=True)
class _Data:
    """What the files hold."""

    train: list[Any]
    dev: list[Any]
    test: list[Any]
    vocabulary: dict[str, Any]


@dataclass
class _Experiment:
    """One call of `train`."""

    task: Task
    settings: Any
    data: _Data
    run: Path
    include_bilm: bool
    keep_models: bool
    quiet: bool
    flag: StopFlag
    tell: Callable[[int], None] | None = None
    frozen: FrozenLayers | None = None
    static: StaticVectors | None = None
    train_words: list[str] = field(default_factory=list)

    def one_seed(self, seed: int) -> Outcome:
        """Trains, or takes what was trained before."""
        if self.tell is not None:
            self.tell(seed)
        done = outcome_file(self.run, seed)
        if done.is_file():
            return json.loads(done.read_text(encoding="utf-8"))
        folder = done.parent
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = self._new_model()
        data = self.data
        fitted = fit(
            model,
            self.task,
            data.train,
            data.dev,
            self.settings.fit,
            folder,
            seed=seed,
            quiet=self.quiet,
            flag=self.flag,
        )
        outcome: Outcome = {"epochs": fitted.epochs, "best_epoch": fitted.best_epoch}
        for name, examples in (("dev", data.dev), ("test", data.test)):
            if examples:
                outcome[name] = self._scored(model, examples, folder / f"{name}.predictions")
        outcome["mix_weights"] = model.tokens.mix_weights()
        metadata = {"elmo_version": __version__, "seed": seed, "best_epoch": fitted.best_epoch} | {
            f"{name}_{self.task.metric}": outcome[name][self.task.metric] for name in ("dev", "test") if name in outcome
        }
        if self.keep_models:
            saved = SavedTaskModel(self.task, self.settings, data.vocabulary, model, metadata)
            save(saved, folder / "model", include_bilm=self.include_bilm, force=True)
        write_json_file(done, outcome)
        FitFolder(folder).finish()
        return outcome

    def _new_model(self) -> Any:
        tokens = TokenRepresentation(
            self.settings.tokens, frozen=self.frozen, static=self.static, train_words=self.train_words
        )
        model: Any = self.task.build(self.settings, self.data.vocabulary, tokens)
        return model.to(chosen_device(self.settings.fit.device))

    def _scored(self, model: Any, examples: list[Any], path: Path) -> dict[str, Any]:
        predictions = predict_all(model, self.task, examples, self.settings.fit.batch_size)
        text = "".join(line + "\n" for line in self.task.write(examples, predictions))
        with new_file(path, size=len(text), force=True) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        return self.task.score(examples, predictions)


def train(
    task_name: str,
    settings: Any,
    files: Files,
    run: Path,
    *,
    seeds: Sequence[int] = (1,),
    cache: Path | None = None,
    cache_dtype: StoredType = "float32",
    include_bilm: bool = False,
    keep_models: bool = True,
    resume: bool = False,
    quiet: bool = False,
    tell: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Trains a model for each seed in the run folder; what scores.json says.

    `cache`: folder for the biLM's layers, which any number of runs may share (default: in the run folder).
    `include_bilm`: whether the saved models have a copy of the biLM. `keep_models`: whether models are saved at all.
    `resume`: go on in a run folder, with the same settings and files; more seeds are allowed. `tell` is called with
    each seed when its turn comes, also if it was trained before. Raises TextError for what is wrong in the data,
    ConfigError for settings that make no sense, OutputError if the folder is taken, Interrupted when stopped with all
    saved.
    """
    require_seeds(seeds)
    with stop_flag() as flag:
        task = find(task_name)
        data = _read(task, settings, files, quiet)
        _require_free(run, resume)
        frozen = _frozen(settings, cache or run / "cache", cache_dtype)
        run.mkdir(parents=True, exist_ok=True)
        with locked(run, "'elmo task train' or 'elmo reproduce'"):
            _note(run, task, settings, files, frozen)
            experiment = _Experiment(task, settings, data, run, include_bilm, keep_models, quiet, flag, tell, frozen)
            _fill_tokens(experiment)
            summary = {"task": task.name, **over_seeds(seeds, experiment.one_seed, task.metric)}
            write_json_file(run / "scores.json", summary)
            if keep_models:
                _copy_model(outcome_file(run, summary["best_seed"]).parent / "model", run / "model")
            return summary


def remember_layers(
    task_name: str,
    settings: Any,
    files: Files,
    cache: Path,
    *,
    cache_dtype: StoredType = "float32",
    quiet: bool = False,
) -> None:
    """Computes and stores what `train` with these arguments would compute of the biLM's layers before it trains.

    Raises as `train` does.
    """
    with stop_flag() as flag:
        task = find(task_name)
        frozen = _frozen(settings, cache, cache_dtype)
        if frozen is not None:
            _remember(frozen, task, _read(task, settings, files, quiet), quiet, flag)


def outcome_file(run: Path, seed: int) -> Path:
    """Where a run's outcome of a seed stands, once that is trained."""
    return run / f"seed-{seed}" / "scores.json"


def examine(task_name: str, settings: Any, files: Files) -> tuple[int, dict[str, Any]]:
    """How many examples `train` trains on with a share of 1, and their vocabulary; raises for the files as `train`."""
    data = _examples(find(task_name), settings, files)
    return len(data.train), data.vocabulary


def _read(task: Task, settings: Any, files: Files, quiet: bool) -> _Data:
    """What is trained on and scored."""
    data = _examples(task, settings, files)
    if not files.dev and not quiet:
        print(f"no --dev was given: {len(data.dev):,} of the training examples decide which epoch is the best",
              file=sys.stderr)  # fmt: skip
    train = [data.train[place] for place in share_of(len(data.train), settings.fit.train_share)]
    train = task.training(train, settings)
    if not train:
        raise ConfigError(f"{files.train}: there is nothing to train on. Check the file and its settings.")
    return replace(data, train=train)


def _examples(task: Task, settings: Any, files: Files) -> _Data:
    """All examples of the files, checked; without a dev file some of the training examples are its."""
    train = task.read(files.train, settings)
    dev = task.read(files.dev, settings) if files.dev else []
    test = task.read(files.test, settings) if files.test else []
    vocabulary = task.vocabulary(train, settings)
    for examples in (dev, test):
        task.check(examples, vocabulary, settings)
    if not files.dev:
        train, dev = _held_out(train)
    return _Data(train, dev, test, vocabulary)


def _held_out(examples: list[Any]) -> tuple[list[Any], list[Any]]:
    """(kept, held out); both have something, if there are two or more."""
    held = set(share_of(len(examples), _DEV_SHARE).tolist()) if len(examples) > 1 else set()
    kept = [example for place, example in enumerate(examples) if place not in held]
    return kept, [examples[place] for place in sorted(held)]


def _require_free(run: Path, resume: bool) -> None:
    begun = (run / "run.json").is_file()
    if resume and not begun:
        raise ConfigError(f"{run}: there is no run to resume, run.json is missing. Start it without --resume.")
    if not resume and run.exists() and (not run.is_dir() or any(run.iterdir())):
        raise OutputError(
            f"{run}: exists already and is not empty. Use --resume to go on with the run in it, or name another."
        )


def _frozen(settings: Any, cache: Path, dtype: StoredType) -> FrozenLayers | None:
    tokens = settings.tokens
    if tokens.encoder == "none":
        return None
    bilm = BiLM.from_pretrained(tokens.model or None).to(chosen_device(settings.fit.device))
    return FrozenLayers(bilm, cache=None if tokens.train_bilm else cache, dtype=dtype)


def _note(run: Path, task: Task, settings: Any, files: Files, frozen: FrozenLayers | None) -> None:
    """Writes what the run is; ConfigError if it was begun as another."""
    facts = {
        "task": task.name,
        "settings": json.loads(json.dumps(to_table(settings))),
        "data": files.hashes(),
        "bilm": None if frozen is None else frozen.model_hash,
    }
    path = run / "run.json"
    if path.is_file():
        require_same_run(path, facts)
        return
    write_json_file(path, {**facts, "files": {name: str(path) for name, path in vars(files).items() if path}})
    write_json_file(run / "env.json", {"elmo": __version__, **environment()})


def _fill_tokens(experiment: _Experiment) -> None:
    """Gets ready what all seeds share: the biLM's layers and the static vectors."""
    task, data, tokens = experiment.task, experiment.data, experiment.settings.tokens
    if experiment.frozen is not None:
        _remember(experiment.frozen, task, data, experiment.quiet, experiment.flag)
    if tokens.static:
        # Here, because few runs need it.
        from elmo.static.for_words import vectors_for_words

        examples = (*data.train, *data.dev, *data.test)
        words = {word for example in examples for sentence in task.sentences(example) for word in sentence}
        experiment.static = vectors_for_words(tokens.static, limit=tokens.static_words, wanted=words)
        trained = {w for example in data.train for sentence in task.sentences(example) for w in sentence}
        experiment.train_words = sorted(trained)


def _remember(frozen: FrozenLayers, task: Task, data: _Data, quiet: bool, flag: StopFlag) -> None:
    """All layers of the data go to the store, if there is one: a biLM that is trained has none."""
    examples = (*data.train, *data.dev, *data.test)
    sentences = (sentence for example in examples for sentence in task.sentences(example))
    frozen.remember(sentences, quiet=quiet, poll=_poll(flag))


def _poll(flag: StopFlag) -> Any:
    def look() -> None:
        if flag.signal is not None:
            raise Interrupted(
                "stopped while the biLM's layers were computed; the parts that were finished are kept. Go on with the "
                "same command and --resume."
            )

    return look


def _copy_model(source: Path, target: Path) -> None:
    parts = frozenset(path.name for path in target.iterdir()) if target.is_dir() else frozenset()
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    with new_folder(target, size=size, force=True, replaceable=parts) as unfinished:
        shutil.copytree(source, unfinished, dirs_exist_ok=True)
