"""train: a job -> a trained model for each seed, its predictions and scores.

run.json             task, settings, files with their hashes, the encoder's hash
cache/               the encoder's layers (unless another cache is named)
seed-1/              metrics.jsonl, model/, scores.json; env.json: when, by which code and where it was trained; of dev
                     and test the predictions in the official format and the counts of each example (`example_counts`)
scores.json          mean, standard deviation and single scores over the seeds; scores of the task's rules
model/               the model of the seed with the best dev score
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import torch

from elmo.disk.atomic import copied_folder, write_file
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError
from elmo.ops.native.threads import num_threads
from elmo.process.device import chosen_device
from elmo.process.environment import provenance
from elmo.process.progress.report import SILENT, Progress, following
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.process.torch_settings import training_torch
from elmo.static.vectors import require_known_words
from elmo.tasks.counts import example_counts
from elmo.tasks.rules import rule_scores
from elmo.tasks.saved_model import SavedTaskModel, save
from elmo.tasks.task import E, P, S, Vocabulary
from elmo.tasks.task_model import TaskModel
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.tasks.train.apply import predict_all
from elmo.tasks.train.fit import fit
from elmo.tasks.train.fit_folder import FitFolder
from elmo.tasks.train.job import AnyJob, Job, Outcome, outcome_file, over_seeds
from elmo.tasks.train.task_data import TaskData, read_data
from elmo.text.files.text_file import text_name
from elmo.version import __version__


@training_torch()
def train(
    job: AnyJob, *, progress: Progress | bool = False, on_seed: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """Trains a model for each seed of a job in its run folder; what scores.json says.

    `progress`: receives the tokens whose layers are computed, the batches of each training, and the examples that are
    scored; True: bars on stderr. `on_seed` is called with each seed when its turn comes, also if it was trained before.
    Raises TextError for errors in the data, ConfigError for settings that don't fit together, OutputError if the
    folder is taken, Interrupted when stopped with everything saved.
    """
    options, task, tokens = job.options, job.task, job.settings.tokens
    task.check_settings(job.settings)
    with stop_flag() as flag, following(progress) as reported:
        with flag.at_once():
            data = read_data(task, job.settings, job.files, reported)
            job.require_free()
            scored, cache = data.scored(), options.cache or job.run / "cache"
            device = job.settings.fit.device
            frozen = FrozenLayers.of(tokens, device=device, cache=cache, dtype=options.cache_dtype)
            if frozen is not None:
                words = (word for sentence in task.sentences_of(*data.parts()) for word in sentence)
                require_known_words([frozen.encoder], words)
            sentences, trained = task.sentences_of(*data.parts()), task.sentences_of(data.train)
            sources = TokenSources.of(frozen, tokens, sentences, trained)
            # What doesn't fit together is refused before anything is written.
            with torch.random.fork_rng(devices=[]):
                model = task.build(job.settings, data.vocabulary, TokenRepresentation(tokens, sources))
            if job.settings.fit.best_by:
                _require_figure(job, data, model)
        job.run.mkdir(parents=True, exist_ok=True)
        with locked(job.run, "'elmo task train' or 'elmo-paper reproduce'"):
            stored = "float32" if frozen is None or frozen.store is None else frozen.store.dtype
            job.note(None if frozen is None else frozen.model_hash, stored)
            is_left = not all(outcome_file(job.run, seed).is_file() for seed in options.seeds)
            if frozen is not None:
                frozen.warn_of_language(task.sentences_of(data.train), text_name(job.files.train))
                if is_left:
                    frozen.remember(task.sentences_of(*data.parts()), flag=flag, progress=reported)
            training = _Training(job, data, scored, sources, flag, reported, on_seed)
            outcomes = {seed: training.one_seed(seed) for seed in options.seeds}
            summary = {"task": task.name, **over_seeds(outcomes, task.metric, job.settings.fit.best_by)}
            if data.trained_on:
                summary["trained_on"] = dict(data.trained_on)
            rules = task.rules(data.whole) if options.rules else []
            summary["rules"] = rule_scores(rules, task.score, task.metric, scored)
            write_json(job.run / "scores.json", summary)
            if options.keep_models:
                copied_folder(outcome_file(job.run, summary["best_seed"]).parent / "model", job.run / "model")
            return summary


@dataclass(frozen=True)
class _Training(Generic[S, E, P]):
    job: Job[S, E, P]
    data: TaskData[E]
    scored: dict[str, list[E]]
    sources: TokenSources
    flag: StopFlag
    progress: Progress
    on_seed: Callable[[int], None] | None

    def one_seed(self, seed: int) -> Outcome:
        """What a seed scored; trains it unless that was done before."""
        if self.on_seed is not None:
            self.on_seed(seed)
        done = outcome_file(self.job.run, seed)
        if done.is_file():
            return self._done_before(done)
        job, data, folder = self.job, self.data, done.parent
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = new_model(job, data.vocabulary, self.sources).to(chosen_device(job.settings.fit.device))
        fitted = fit(
            model, job.task, data.train, data.dev, job.settings.fit, folder,
            seed=seed, progress=self.progress, flag=self.flag,
        )  # fmt: skip
        outcome: Outcome = {"epochs": fitted.epochs, "best_epoch": fitted.best_epoch}
        for name, examples in self.scored.items():
            outcome[name] = _scored(job, model, examples, folder / name, self.progress)
        outcome["mix_weights"] = model.tokens.mix_weights()
        if job.options.keep_models:
            self._save(model, seed, outcome, folder / "model")
        write_json(folder / "env.json", provenance(num_threads()))
        write_json(done, outcome)
        FitFolder(folder).finish()
        return outcome

    def _done_before(self, path: Path) -> Outcome:
        """Raises ConfigError if the seed's model is wanted and wasn't kept."""
        if self.job.options.keep_models and not (path.parent / "model").is_dir():
            raise ConfigError(
                f"{path.parent}: was trained without keeping its model, so there is none to be kept now. Leave out "
                "--keep-models, or remove that folder to train this seed again."
            )
        return read_record(path)

    def _save(self, model: TaskModel[E, P], seed: int, outcome: Outcome, folder: Path) -> None:
        job, metric = self.job, self.job.task.metric
        metadata = {"elmo_version": __version__, "seed": seed, "best_epoch": outcome["best_epoch"]}
        metadata |= {f"{name}_{metric}": outcome[name][metric] for name in self.scored}
        saved = SavedTaskModel(job.task, job.settings, self.data.vocabulary, model, metadata)
        save(saved, folder, include_bilm=job.options.include_bilm, force=True)


def new_model(job: Job[S, E, P], vocabulary: Vocabulary, sources: TokenSources) -> TaskModel[E, P]:
    """A model of the job with random weights, on the CPU."""
    return job.task.build(job.settings, vocabulary, TokenRepresentation(job.settings.tokens, sources))


def remember_layers(job: AnyJob, progress: Progress = SILENT) -> None:
    """Computes and stores what `train` would compute of the encoder's layers before it trains. Raises as `train`."""
    with stop_flag() as flag:
        with flag.at_once():
            options, device = job.options, job.settings.fit.device
            cache = options.cache or job.run / "cache"
            frozen = FrozenLayers.of(job.settings.tokens, device=device, cache=cache, dtype=options.cache_dtype)
            data = None if frozen is None else read_data(job.task, job.settings, job.files, progress)
        if frozen is not None and data is not None:
            frozen.remember(job.task.sentences_of(*data.parts()), flag=flag, progress=progress)


def _require_figure(job: Job[S, E, P], data: TaskData[E], model: TaskModel[E, P]) -> None:
    """ConfigError unless the scores have the figure `best_by`; checked on one example, before hours of training."""
    example = min(data.dev or data.train, key=job.task.size)
    model = model.to(chosen_device(job.settings.fit.device))
    predictions = predict_all(model, job.task, [example], job.settings.fit)
    job.task.figure(job.task.score([example], predictions), job.settings.fit.best_by)


def _scored(
    job: Job[S, E, P], model: TaskModel[E, P], examples: Sequence[E], path: Path, progress: Progress
) -> Outcome:
    """Scores; predictions and counts are written to `path` with their endings."""
    predictions = predict_all(model, job.task, examples, job.settings.fit, progress=progress)
    lines = job.task.write(zip(examples, predictions, strict=True))
    write_file(path.with_suffix(".predictions"), "".join(line + "\n" for line in lines).encode())
    scores = job.task.score(examples, predictions)
    job.task.figure(scores, job.task.metric)
    if (counts := example_counts(job.task, examples, predictions, scores)) is not None:
        write_json(path.with_suffix(".examples.json"), counts, indent=None)
    return dict(scores)
