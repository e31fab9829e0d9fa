"""The paper's table 7: the biLM's perplexity on a task's dev text, before and after an epoch on its training text.

    nice -n 15 elmo-paper finetuned FOLDER --data DATA --model small-en
    elmo-paper finetuned FOLDER --data DATA --model small-en --record paper/records/reproduction/finetuned

The text of a task is each sentence of its files once, without the labels; of questions and their articles there are
two texts, as in the paper. `elmo finetune` with its default settings reads the training text once, with each seed. The
models are FOLDER/TEXT/seed-N/model, the record of a text FOLDER/TEXT/record.json. What is done isn't done again, and a
killed run goes on where it was.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.disk.atomic import write_file
from elmo.disk.bounded import file_hash
from elmo.disk.json_file import read_record, read_toml, write_json
from elmo.errors import ConfigError
from elmo.lm.named_model import log_probabilities
from elmo.ops.native.threads import num_threads
from elmo.pretrain.run.run_folder import FINETUNING_FILE
from elmo.pretrain.run.training import train
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.process.environment import provenance
from elmo.tasks.registry import find
from elmo.weights import formats, hub
from elmo.weights.checkpoint import content_hash
from elmo_paper.places import PLAN
from elmo_paper.reproduce.paper import TABLE_7
from elmo_paper.reproduce.verdicts import AGREES, DISAGREES, UNDECIDED, resampled_scores

PARTS = {"": slice(None), "questions": slice(0, 1), "articles": slice(1, 2)}
"""Of a text SECTION or SECTION-PART: which of an example's sentences it has."""
SPLITS = ("train", "dev")


def main(argv: Sequence[str] | None = None) -> int:
    """Trains and writes the records; the exit code."""
    made = argparse.ArgumentParser(
        "elmo-paper finetuned", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("folder", type=Path, help="where the models are kept")
    made.add_argument("--data", type=Path, required=True, help="folder of the data sets that plan.toml names")
    made.add_argument("--model", default="small-en", help="the biLM: a name or a folder")
    made.add_argument("--texts", nargs="+", choices=TABLE_7, default=[*TABLE_7])
    made.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    made.add_argument("--record", type=Path, metavar="FOLDER", help="copy the records there")
    given = made.parse_args(argv)
    _write(given)
    return 0


def _write(given: argparse.Namespace) -> None:
    plan, bilm = read_toml(PLAN), content_hash(formats.read(hub.resolve(given.model)))
    for name in given.texts:
        section, _, part = name.partition("-")
        folder, data = given.folder / name, given.data / plan[section]["data"]
        files = {split: data / plan[section][split] for split in SPLITS}
        text = {split: folder / f"{split}.txt" for split in SPLITS}
        for split, path in files.items():
            content = "".join(f"{' '.join(line)}\n" for line in sentences_of(section, path, part)).encode()
            if not text[split].is_file():
                write_file(text[split], content)
            elif text[split].read_bytes() != content:
                raise ConfigError(f"{text[split]}: is the text of other data than {path}. Name another folder.")
        models = [tuned(given.model, bilm, text, folder, seed) for seed in given.seeds]
        record = {
            "experiment": "table7",
            "text": name,
            "task": section,
            "name": ", ".join(filter(None, [plan[section]["name"], part])),
            "seeds": given.seeds,
            "data": {split: file_hash(path) for split, path in files.items()},
            "bilm": bilm,
            "settings": read_record(models[0].parent / FINETUNING_FILE)["settings"],
            **provenance(num_threads()),
            "tokens": {split: len(path.read_text(encoding="utf-8").split()) for split, path in text.items()},
            **compared(given.model, models, text["dev"]),
        }
        write_json(folder / "record.json", record)
        if given.record:
            write_json(given.record / f"{name}.json", record)


def sentences_of(section: str, path: Path, part: str) -> list[tuple[str, ...]]:
    """Each sentence of a part of a task's file once, in their order."""
    task = find(section)
    own = (task.sentences(example)[PARTS[part]] for example in task.read(path, task.settings()))
    return list(dict.fromkeys(tuple(sentence) for sentences in own for sentence in sentences))


def tuned(model: str, bilm: str, text: dict[str, Path], folder: Path, seed: int) -> Path:
    """The model's folder after an epoch on the text; `bilm`: the hash of `model`."""
    run = folder / f"seed-{seed}"
    if (run / FINETUNING_FILE).is_file() and read_record(run / FINETUNING_FILE)["model_hash"] != bilm:
        raise ConfigError(f"{run}: is a training of another model than {model}. Name another folder.")
    if (run / "model").is_dir():
        return run / "model"
    if not (folder / "data").is_dir():
        settings = CorpusSettings(vocabulary=model)
        prepare(text["train"], folder / "data", settings, valid=text["dev"], resume=True, progress=True)
    data = TrainingData.open(folder / "data")
    # `compared` measures all of the dev text.
    config = FinetuneConfig(seed=seed, comparison_sentences=1)
    return train(data, run, config, model=model, progress=True).model


def compared(model: str, models: Sequence[Path], text: Path) -> dict[str, Any]:
    """Perplexities before and after, and what the latter are of the former, with an interval over the sentences."""
    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    predictions = np.array([len(sentence) + 1.0 for sentence in sentences])
    nats = -np.array([[one.mean for one in log_probabilities(sentences, read)] for read in (model, *models)])
    counts = np.stack([nats, np.broadcast_to(predictions, nats.shape)], axis=-1)
    drawn = resampled_scores(counts, _perplexity)
    before, *after = _perplexity(counts.sum(axis=1)).tolist()
    ratios = drawn[:, 1:].mean(axis=1) / drawn[:, 0]
    low, high = np.percentile(ratios, [2.5, 97.5]).tolist()
    return {
        "perplexity": {"before": before, "after": after},
        "ratio": {"mean": float(np.mean(after)) / before, "interval": [low, high]},
        "verdict": AGREES if high < 1 else DISAGREES if low > 1 else UNDECIDED,
        "counts": {"predictions": predictions.astype(int).tolist(), "nats": np.round(nats, 2).tolist()},
    }


def _perplexity(sums: Float[np.ndarray, "... counts"]) -> Float[np.ndarray, "..."]:
    """Of sums of nats and of predictions."""
    return np.exp(sums[..., 0] / sums[..., 1])
