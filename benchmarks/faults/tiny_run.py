"""A tiny training run to inject faults into: its data, its recipe, and what two equal runs have in common.

300 steps of some milliseconds on a CPU, with everything switched on that takes part in a step.
"""

import json
import random
from pathlib import Path

import torch

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.model.bilm import BiLM
from elmo.pretrain.settings.config import PretrainConfig
from elmo.weights.checkpoint import content_hash
from elmo.weights.native.read import read

WORDS = ("the", "cat", "dog", "bank", "river", "money", "sat", "on", "of", "and", "went", "to", "café", "밥", ".")
RECIPE = {
    "cell_size": 16, "projection_size": 8, "character_dim": 4, "num_highway": 1, "batch_size": 4, "unroll_steps": 5,
    "num_negative_samples": 8, "epochs": 100, "max_steps": 300, "dropout": 0.1, "state_reset": 0.5, "log_every": 1,
    "save_every": 7, "evaluate_every": 50, "optimizer": "adamw", "learning_rate": 0.01, "warmup_steps": 10,
    "decay": "linear", "filters": [[1, 4], [2, 4]],
}  # fmt: skip


def config(**changes: object) -> PretrainConfig:
    """The recipe, with changes."""
    return PretrainConfig.from_dict(RECIPE | changes, "the tiny recipe")


def tiny_model() -> BiLM:
    """Of the recipe's size, with random weights that are always the same."""
    torch.manual_seed(1)
    return BiLM(config().architecture(50))


def write_data(work: Path) -> None:
    """A corpus of 300 sentences, prepared (WORK/data), and the recipe (WORK/tiny.toml)."""
    chance = random.Random(1)
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(300)]
    (work / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (work / "valid.txt").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    prepare([work / "train.txt"], work / "data", CorpusSettings(tokens_per_shard=500), valid=[work / "valid.txt"])
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in RECIPE.items())
    (work / "tiny.toml").write_text(text + "\n", encoding="utf-8")


def num_steps(run: Path) -> int:
    """The last step that metrics.jsonl has, at most one object more than that."""
    try:
        return (run / "metrics.jsonl").read_bytes().count(b'"loss"')
    except OSError:
        return 0


def saved_step(run: Path) -> int | None:
    """The step of the checkpoint that `latest` names."""
    try:
        return int((run / "checkpoints" / "latest").read_text(encoding="utf-8").strip().removeprefix("step-"))
    except OSError:
        return None


def outcome(run: Path) -> tuple[list, str]:
    """What two equal runs share bit for bit: every logged loss and evaluation, and the finished model."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = ("step", "loss", "losses", "evaluation", "mean_perplexity", "skipped")
    return [[line.get(name) for name in kept] for line in lines], content_hash(read(run / "model"))
