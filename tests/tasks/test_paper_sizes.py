"""The paper's configurations in their full sizes, with a biLM of the published size: each is trained for one step.

Weights are random and the data tiny; what is shown is that sizes fit together, that a gradient reaches every weight,
and that predictions come out.
"""

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tasks.test_contract import DATA

from elmo.config import published as published_size
from elmo.model.bilm import BiLM
from elmo.static.vectors import StaticVectors
from elmo.tasks.registry import BUILT_IN, find
from elmo.tasks.settings import with_table
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenSources
from elmo.tasks.train.job import Files, Job
from elmo.tasks.train.optimizers import make_optimizer
from elmo.tasks.train.task_data import read_data
from elmo.tasks.train.train import new_model

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "tasks"
# The tagger's configuration has the paper's sizes itself, and the paper has no parts of speech.
TASKS = list(BUILT_IN)
PAPER = {name: f"{name}.toml" if name in ("ner", "pos") else f"{name}-paper.toml" for name in TASKS}


@pytest.fixture(scope="module")
def published() -> FrozenLayers:
    """A biLM of the published size; what it is asked for is not remembered."""
    return FrozenLayers(BiLM(published_size("original")).eval().requires_grad_(False))


@pytest.mark.parametrize("name", TASKS)
def test_the_papers_model_learns_a_step_and_predicts(name, published, tmp_path):
    (tmp_path / "data").write_text(DATA[name], encoding="utf-8")
    task, files = find(name), Files(tmp_path / "data", tmp_path / "data")
    table = tomllib.loads((CONFIGS / PAPER[name]).read_text(encoding="utf-8"))
    settings = with_table(task.settings(), table | {"static": ["vectors"], "device": "cpu"}, PAPER[name])
    assert settings.tokens.encoder == "elmo"
    data = read_data(task, settings, files)
    words = tuple(sorted({word for sentence in task.sentences_of(data.train) for word in sentence}))
    vectors = np.random.default_rng(0).standard_normal((len(words), 300), np.float32)
    sources = TokenSources(published, {"static": StaticVectors(words, vectors)}, words)
    model = new_model(Job(task, settings, files, tmp_path), data.vocabulary, sources).train()
    optimizer = make_optimizer(settings.fit, model)
    torch.manual_seed(1)
    batch = [task.drawn(one, np.random.default_rng(0)) for one in data.train[: settings.fit.batch_size]]
    loss = model.loss(batch) + model.tokens.penalty()
    loss.backward()
    optimizer.step()
    assert math.isfinite(loss.item())
    reached = {key for key, one in model.named_parameters() if one.requires_grad and one.grad is not None}
    assert reached == {key for key, one in model.named_parameters() if one.requires_grad}
    with torch.no_grad():
        predictions = model.eval().predict(data.dev[:2])
    assert 0 <= task.score(data.dev[:2], predictions)[task.metric] <= 100
