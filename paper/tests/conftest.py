"""What the laboratory's tests start from: the library's fixtures, its checks of shapes, and outcomes of trainings that
never were: what comes out of them can be computed by hand."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import install_import_hook
from tests.conftest import (  # noqa: F401 - fixtures
    environment_stays,
    load_script,
    no_waiting_for_the_disk,
    one_thread,
    own_cache,
    recorded_progress,
    shared,
    terminal,
    tiny_bilm,
    tiny_checkpoint,
    tiny_config,
    tiny_corpus,
)
from tests.static.test_training import animals_and_stones  # noqa: F401 - a fixture

from elmo.tasks.ner.data import NerSettings
from elmo.tasks.train.job import SCORED
from elmo_paper.reproduce.outcomes import Outcome
from elmo_paper.reproduce.record import ExperimentRecord, recorded
from elmo_paper.reproduce.systems import systems_of

install_import_hook(["elmo_paper"], "beartype.beartype")

Scores = Sequence[float]


@pytest.fixture
def outcomes_of() -> Callable[..., list[Outcome]]:
    """Outcomes of an experiment, whose `scores[k]` are the dev scores of its system k, a score for each seed."""

    def make(
        experiment, scores, *, shares=(), bilms=(), test=None, second_test=None, mixes=None, epochs=None
    ) -> list[Outcome]:
        found = []
        for place, system in enumerate(systems_of(experiment, NerSettings(), shares, bilms)):
            per_seed = []
            for seed, score in enumerate(scores[place]):
                outcome = {"best_epoch": 1, "dev": {"f1": score, "per_label": {"PER": {"f1": score}}}}
                outcome |= {"test": {"f1": test[place][seed]}} if test else {}
                outcome |= {"second_test": {"f1": second_test[place][seed]}} if second_test else {}
                per_seed.append(outcome | {"mix_weights": mixes[place][seed] if mixes else []})
            seeds = list(range(1, 1 + len(per_seed)))
            curves = epochs[place] if epochs else [[score, score] for score in scores[place]]
            names = (system.name, system.label, system.share, f"runs/{system.folder}")
            found.append(Outcome(*names, "f1", seeds, per_seed, curves))
        return found

    return make


@pytest.fixture
def record_of(outcomes_of) -> Callable[..., ExperimentRecord]:
    """The record of such outcomes. `units`: with resamples that vary like scores of so many test examples."""

    def make(experiment, scores, *, task="ner", rules=(), name="tweets", units=0, **more) -> ExperimentRecord:
        outcomes = outcomes_of(experiment, scores, **more)
        if units:
            outcomes = [_resampled(outcome, units) for outcome in outcomes]
        asked = {"experiment": experiment, "task": task, "name": name, "seeds": list(outcomes[0].seeds)}
        return recorded(asked, outcomes, rules)

    return make


def _resampled(outcome: Outcome, units: int) -> Outcome:
    noise = np.random.default_rng(0).normal(scale=50 / units**0.5, size=(500, 1))
    data = [name for name in SCORED if name in outcome.per_seed[0]]
    resampled = {name: outcome.scored(name).scores + noise for name in data}
    every = dict.fromkeys(data, units)
    return replace(outcome, resampled=resampled, num_units=every, effective_units=every)


@pytest.fixture
def data(tmp_path) -> Path:
    """A file of 40 sentences in columns."""
    chance = random.Random(0)
    words = ["the O", "saw O", "Anna B-PER", "Rome B-LOC"]
    sentences = ["\n".join(chance.choices(words, k=chance.randrange(1, 6))) for _ in range(39)]
    path = tmp_path / "data.conll"
    path.write_text("\n\n".join([*sentences, "Anna B-PER\nRome B-LOC"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def play_corpus() -> Callable[..., Path]:
    """A sense-annotated corpus, NAME.data.xml, and its keys: one word with two senses in 24 documents."""

    def make(folder: Path, name: str, packed: Callable[[bytes], bytes] = bytes, suffix: str = "") -> Path:
        texts = [
            f'<text id="d{n}"><sentence id="d{n}.s0"><wf lemma="w{n}" pos="X">w{n}</wf>'
            f'<instance id="d{n}.s0.t0" lemma="play" pos="{("NOUN", "VERB")[n % 2]}">play</instance></sentence></text>'
            for n in range(24)
        ]
        folder.mkdir(parents=True, exist_ok=True)
        corpus, keys = folder / f"{name}.data.xml{suffix}", folder / f"{name}.gold.key.txt{suffix}"
        corpus.write_bytes(packed(f"<corpus>{''.join(texts)}</corpus>".encode()))
        keys.write_bytes(packed("".join(f"d{n}.s0.t0 play%{n % 2}{n % 3}\n" for n in range(24)).encode()))
        return corpus

    return make
