"""The systems that each experiment compares, made of a task's settings. Nothing here loads torch."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elmo.errors import ConfigError
from elmo.tasks.settings import TaskSettings, TokenSettings, left_settings, to_table
from elmo_paper.systems import TITLES

EXPERIMENTS = {
    "table1": "what ELMo adds: without and with it, and the relative error reduction",
    "table2": "which layers: no ELMo, the top layer, all layers averaged (lambda 1), all layers mixed (lambda 0.001)",
    "table3": "where ELMo is put: at the input of the task's RNN, at its output, at both",
    "figure1": "how much data: without and with ELMo, on shares of the training data",
    "figure2": "which layers the mixes have learned to use, at the input and at the output",
    "gamma": "whether ELMo is scaled: the top layer and all layers, with gamma learned and with gamma fixed at 1",
    "bilms": "which biLM, or CoVe, MSSG or context2vec in its place: without, and with each model that --bilms names",
    "taglm": "ELMo and TagLM (ner): the top layer alone, at the input or between the tagger's two biLSTM layers",
}

SHARES = (0.1, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Percent of the training data in figure 1, where none are asked for."""

# An epoch of figure 1 has at least this percentage of the number of training examples.
_LEAST_EPOCH = 25.0

_OF_TRAINED_BILM = ("bilm_rate", "bilm_rate_divisor", "unfreeze_epochs", "new_bilm")

_LATER = {
    "TaskSettings": ("errors", "static_errors", *_OF_TRAINED_BILM),
    "SnliSettings": ("label_column",),
    "SstSettings": ("network",),
}
"""By class, settings that came after trainings were kept: with its default, none changes the name of a run's folder."""

# All other settings of tokens are about ELMo.
_OF_STATIC_VECTORS = ("static", "static_errors", "static_words", "train_static")


@dataclass(frozen=True)
class System:
    """One line of a table: what is trained, once for each seed."""

    name: str
    """Of the system, without blanks: figure 1 has it once for each share."""
    label: str
    """For people."""
    settings: TaskSettings
    """The task's."""

    @property
    def share(self) -> float:
        """Percent of the training data."""
        return round(100 * self.settings.fit.train_share, 9)

    @property
    def folder(self) -> str:
        """The name of its run's folder: the same for equal settings, so that experiments share what they can."""
        tokens, usual = self.settings.tokens, to_table(type(self.settings)())
        later = {name for kind in type(self.settings).__mro__ for name in _LATER.get(kind.__name__, ())}
        usual |= left_settings(self.settings)
        named = {
            name: value
            for name, value in (usual | to_table(self.settings)).items()
            if name not in later or value != usual[name]
        }
        text = json.dumps(named, sort_keys=True)
        parts = [
            "baseline" if tokens.encoder == "none" else f"{tokens.layers}-{tokens.placement}",
            *([f"lambda-{tokens.mix_penalty:g}"] if tokens.encoder != "none" and tokens.layers == "mix" else []),
            *([] if self.share == 100 else [f"{self.share:g}pct"]),
            hashlib.sha256(text.encode()).hexdigest()[:8],
        ]
        return "-".join(parts)


def require_experiment(name: str) -> None:
    """ConfigError if there is no such experiment."""
    if name not in EXPERIMENTS:
        raise ConfigError(
            f"there is no table or figure {name!r} to reproduce. The paper's tables and figures about ELMo in a "
            f"task's model are: {', '.join(EXPERIMENTS)}. Tables 4 to 6 are made by elmo-paper precision, wsd and pos."
        )


def require_open(experiment: str, settings: TaskSettings) -> None:
    """ConfigError if the settings fix what the experiment varies, or have none of the layers that it is about."""
    if settings.tokens.encoder == "none":
        raise ConfigError(
            f"encoder is 'none', but {experiment} trains with ELMo, and without it where that is compared. Leave "
            "--encoder out."
        )
    if experiment == "figure1" and settings.fit.train_share != 1:
        raise ConfigError(
            f"train_share is {settings.fit.train_share}, but figure1 tries out several shares of the training data. "
            "Leave it out, and choose them with --shares."
        )
    if experiment == "figure2" and settings.tokens.encoder != "elmo":
        raise ConfigError(
            f"encoder is {settings.tokens.encoder!r}, but figure2 is about the layers of a biLM, a token layer and "
            "LSTM layers above it, and these are others. Leave --encoder out, or ask for table3, which trains the same."
        )


def checked_shares(shares: Sequence[float], num_groups: int) -> list[float]:
    """Percentages in ascending order; `SHARES` without those that leave nothing if none are given.

    `num_groups`: of training examples that stay together (questions about one article); a smaller share than one group
    would be trained on a whole one. Raises ConfigError for a value that isn't a percentage, or leaves nothing.
    """
    wrong = [share for share in shares if not 0 < share <= 100]
    if wrong:
        raise ConfigError(f"--shares has {wrong[0]:g}, but shares are percentages: above 0 and at most 100. Change it.")
    empty = [share for share in shares if round(share / 100 * num_groups) < 1]
    if empty:
        raise ConfigError(
            f"--shares has {empty[0]:g}, but that share of {num_groups:,} groups of training examples is none at "
            f"all: examples that belong together stay together. Ask for {100 / num_groups:.2g} or more."
        )
    found = shares or [share for share in SHARES if round(share / 100 * num_groups) >= 1]
    return sorted({round(share, 9) for share in found})


def encoder_and_model(name: str, usual: str) -> tuple[str, str]:
    """One of the models of "bilms": "cove=FOLDER" is the encoder "cove", a name alone one of the `usual` encoder's."""
    encoder, sign, model = name.partition("=")
    return (encoder, model) if sign and encoder in TITLES else (usual, name)


def checked_bilms(bilms: Sequence[str]) -> list[str]:
    """Models to compare, the first one with all others. Raises ConfigError for fewer than two, or one named twice."""
    if len(bilms) < 2:
        raise ConfigError(
            f"--bilms has {len(bilms)} of them, but this experiment compares at least two. Name two or more models: "
            "the first is what the others are compared with."
        )
    own = [(encoder, _place(model)) for encoder, model in (encoder_and_model(name, "") for name in bilms)]
    twice = [name for place, name in enumerate(bilms) if own[place] in own[:place]]
    if twice:
        raise ConfigError(f"--bilms names {twice[0]} twice. Name each model once.")
    return list(bilms)


def _place(model: str) -> Path:
    """The whole path of a folder or file; a name stays as it is."""
    return Path(model).resolve() if Path(model).exists() else Path(model)


def systems_of(
    experiment: str, settings: TaskSettings, shares: Sequence[float] = (), bilms: Sequence[str] = ()
) -> list[System]:
    """The systems that `experiment` trains, in the order of its table.

    `shares`: percentages, for figure 1 alone. `bilms`: models as `encoder_and_model` reads them, for "bilms" alone.
    """
    if experiment == "bilms":
        return [_baseline(settings), *_with_each(settings, bilms)]
    if experiment == "table2":
        return [
            _baseline(settings),
            _system("top", "top layer only", settings, layers="top"),
            _system("lambda-1", "all layers, lambda 1", settings, layers="mix", mix_penalty=1.0),
            _system("lambda-0.001", "all layers, lambda 0.001", settings, layers="mix", mix_penalty=0.001),
        ]
    if experiment == "table1":
        return [_baseline(settings), _system("elmo", "+ ELMo", settings)]
    if experiment == "gamma":
        return [
            _baseline(settings),
            _system("top", "top layer only", settings, layers="top", train_gamma=True),
            _system("top-fixed", "top layer only, gamma 1", settings, layers="top", train_gamma=False),
            _system("mix", "all layers", settings, layers="mix", train_gamma=True),
            _system("mix-fixed", "all layers, gamma 1", settings, layers="mix", train_gamma=False),
        ]
    if experiment == "taglm":
        return [
            _baseline(settings),
            _system("top-input", "top layer, at the input", settings, layers="top", placement="input"),
            _system("taglm", "top layer, between the layers (TagLM)", settings, layers="top", placement="between"),
            _system("elmo", "all layers, at the input (ELMo)", settings, layers="mix", placement="input"),
        ]
    if experiment == "figure1":
        return [system for share in shares for system in _with_and_without(settings, share)]
    return [
        _system("input", "input only", settings, layers="mix", placement="input"),
        _system("both", "input & output", settings, layers="mix", placement="both"),
        _system("output", "output only", settings, layers="mix", placement="output"),
    ]


def _with_each(settings: TaskSettings, bilms: Sequence[str]) -> Iterator[System]:
    """Models are named by the last part of their paths, or by as many parts as distinguish all of them."""
    named = [encoder_and_model(name, settings.tokens.encoder) for name in bilms]
    paths = [_place(model).parts for _, model in named]
    most = max(map(len, paths))
    num_parts = next((num for num in range(1, most) if len({path[-num:] for path in paths}) == len(paths)), most)
    for place, (encoder, model) in enumerate(named):
        kind = TITLES.get(encoder, "ELMo")
        label = f"+ {kind} of {Path(*paths[place][-num_parts:]).as_posix()}"
        yield _system(f"{kind.lower()}-{place + 1}", label, settings, encoder=encoder, model=model)


def _with_and_without(settings: TaskSettings, share: float) -> list[System]:
    """Of a small share, an epoch has several passes, so that epochs and patience end no training before it begins."""
    passes = math.ceil(_LEAST_EPOCH / share) * settings.fit.epoch_passes
    if share < 100:  # with more passes, batches needn't be smaller
        fit = replace(settings.fit, train_share=share / 100, epoch_passes=passes, least_batches=0)
        settings = replace(settings, fit=fit)
    return [_baseline(settings), _system("elmo", "+ ELMo", settings)]


def _baseline(settings: TaskSettings) -> System:
    """Without ELMo; settings of ELMo are ignored, so they don't distinguish baselines."""
    usual = {name: value for name, value in vars(TokenSettings()).items() if name not in _OF_STATIC_VECTORS}
    return _system("baseline", "baseline (no ELMo)", settings, **usual | {"encoder": "none"})


def _system(name: str, label: str, settings: TaskSettings, **tokens: Any) -> System:
    return System(name, label, replace(settings, tokens=replace(settings.tokens, **tokens)))
