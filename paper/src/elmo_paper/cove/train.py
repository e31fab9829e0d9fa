"""Training CoVe's translation system on pairs of sentences.

Source: McCann et al. 2017, section 3; docs/specification-tasks.md, 9.3.3. Plain gradient descent; after an epoch with a
higher perplexity of the dev pairs than the one before, the learning rate is halved, as in the authors' program (in the
paper it is halved after every epoch from the first such one on). The best epoch's weights are kept.

Random choices depend on the seed and on the number of the epoch and step alone, and the learning rate on the epochs'
perplexities, so a training that was stopped or killed repeats its last epoch and gives the same model bit for bit.
"""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from elmo.disk.bounded import file_hash
from elmo.disk.folder_lock import locked
from elmo.errors import ConfigError, Interrupted, TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.process.stop_flag import StopFlag, StopRequested, stop_flag
from elmo.process.torch_settings import training_torch
from elmo.static.vectors import StaticVectors, check_coverage, read_static_vectors
from elmo_paper.cove.network import PADDING_ID, SPECIAL_WORDS, Sizes, Translator
from elmo_paper.cove.pairs import Files, NumberedPairs, Pairs, read_pairs, target_words
from elmo_paper.cove.settings import CoVeSettings
from elmo_paper.cove.train_folder import Log, TrainFolder

# Gives each seed its own range of step seeds.
_PRIME = 1_000_003
# Pairs that are scored or translated at once.
_SCORED = 128


@dataclass(frozen=True)
class ParallelText:
    """The files of a training."""

    train: Sequence[Files]
    dev: Files
    """Sets the learning rate and chooses the epoch."""
    vectors: Path
    """Static vectors of the source language."""
    test: Files | None = None
    """Translated once, at the end."""


@dataclass(frozen=True)
class TrainedCoVe:
    """How a training ended; the encoder is in its folder."""

    sizes: Sizes
    num_pairs: int
    num_left_out: int
    """Pairs with an empty side, or one that is too long."""
    known_share: float
    """Of the source tokens, those with a vector."""
    log: Log
    """Of each epoch: learning_rate, perplexity in training, dev_perplexity, seconds, words_per_second."""
    best_epoch: int
    """From 1."""
    bleu: float | None
    """Of the test pairs, 0 to 100, tokenized and lower-cased; None without them."""
    bleu_signature: str | None
    """Of sacrebleu."""
    facts: dict[str, Any]
    """What all epochs had in common: the settings, and the SHA-256 of the files."""


@training_torch()
def train_cove(
    text: ParallelText, settings: CoVeSettings, folder: Path, *, resume: bool = False, progress: Progress | bool = False
) -> TrainedCoVe:
    """Trains a translation system and leaves its encoder in `folder`, for `CoVeEncoder.load`.

    `resume`: continues the training in `folder`. `progress`: receives the target words that are trained on; True: bars
    on stderr. SIGTERM and Ctrl-C raise Interrupted. Raises TextError for files that aren't parallel, have no source
    word with a vector or no target word that is frequent enough, ConfigError if the training diverges or a resumed one
    had other files or settings, and OutputError for a folder that exists.
    """
    place = TrainFolder(folder)
    with following(progress) as reported, stop_flag() as flag, torch.random.fork_rng(devices=[]):
        with flag.at_once():
            pairs, dev = read_pairs(text.train, settings.longest), read_pairs([text.dev])
            tested = read_pairs([text.test]) if text.test else None
            for name, part in (("dev", dev), ("test", tested)):
                if part and part.num_left_out:
                    reported.say(f"{name} pairs that are left out, because a side is empty: {part.num_left_out:,}")
            vectors = _vectors(text.vectors, [part for part in (pairs, dev, tested) if part])
            words = target_words(pairs.targets, settings.min_count, settings.max_words)
            if len(words) == len(SPECIAL_WORDS):
                raise TextError(
                    f"{text.train[0][1]}: no word occurs at least {settings.min_count} times in the translations, so "
                    "all of them would be one unknown word. Give more text, or lower --min-count."
                )
            train = NumberedPairs(pairs, vectors, words)
            facts = _facts(text, settings)
            place.begin(facts, text.vectors, resume=resume)
        sizes = Sizes(vectors.dim, settings.cells, len(words))
        with locked(folder, "'elmo-paper cove'"):
            training = _Training(sizes, train, NumberedPairs(dev, vectors, words), settings, place, reported, flag)
            try:
                log = training.run()
                scored = (None, None)
                if tested:
                    found = translations(training.network, NumberedPairs(tested, vectors, words), words, flag)
                    place.write_translations([" ".join(sentence) for sentence in found])
                    scored = bleu(found, tested.targets)
            except StopRequested:
                raise Interrupted(
                    f"{folder}: stopped by signal {flag.signal} after {len(training.log)} whole epochs, which are "
                    "saved. Continue with the same command and --resume."
                ) from None
    return TrainedCoVe(sizes, len(train), pairs.num_left_out, train.known_share, log, best_epoch(log), *scored, facts)


@torch.no_grad()
def perplexity(network: Translator, pairs: NumberedPairs, flag: StopFlag) -> float:
    """Of the target words, the end of each sentence among them. StopRequested if the flag is raised."""
    nats = 0.0
    network.eval()
    for places in pairs.groups(_SCORED):
        flag.check()
        *source, words = pairs.batch(places)
        nats += network.loss(network.read(*source), words).item()
    return _exp(nats / pairs.num_words)


def _exp(nats: float) -> float:
    return math.exp(min(nats, 700.0))  # or it overflows


def translations(network: Translator, pairs: NumberedPairs, words: Sequence[str], flag: StopFlag) -> list[list[str]]:
    """Each source in the other language, the likeliest word at each step; at most ten words and twice as many as the
    longest source of its batch has."""
    found: dict[int, list[str]] = {}
    network.eval()
    for places in pairs.groups(_SCORED):
        flag.check()
        vectors, lengths, _ = pairs.batch(places)
        ids = network.translate(network.read(vectors, lengths), 10 + 2 * int(lengths.max()))
        found |= {int(place): [words[word] for word in row] for place, row in zip(places, ids, strict=True)}
    return [found[place] for place in range(len(pairs))]


def bleu(found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> tuple[float, str]:
    """BLEU of tokens as they are, 0 to 100, and sacrebleu's signature."""
    from sacrebleu.metrics.bleu import BLEU  # which takes a second to import

    scorer = BLEU(tokenize="none", force=True)  # force: no warning that the text is tokenized, as it should be
    lines = [[" ".join(sentence) for sentence in side] for side in (found, expected)]
    return float(scorer.corpus_score(lines[0], [lines[1]]).score), str(scorer.get_signature())


def _vectors(path: Path, parts: Sequence[Pairs]) -> StaticVectors:
    """Those of the pairs' source words alone: a published file has 2.2 million, and each part keeps a copy."""
    counts = Counter(word for part in parts for sentence in part.sources for word in sentence)
    # All words are read, and no others made by a fastText model: `CoVeEncoder` has those of the file alone.
    found = read_static_vectors(path)
    check_coverage(path, found, counts)
    known = tuple(word for word in found.words if word in counts)
    return StaticVectors(known, found.lookup(known))


def best_epoch(log: Log) -> int:
    """The first with the lowest dev perplexity, from 1."""
    return 1 + min(range(len(log)), key=lambda number: log[number]["dev_perplexity"])


def _facts(text: ParallelText, settings: CoVeSettings) -> dict[str, Any]:
    """What all epochs of a training have in common. Of the number of epochs there may be more when it is resumed."""
    files = [file for pair in (*text.train, text.dev) for file in pair]
    found = {name: value for name, value in asdict(settings).items() if name != "epochs"}
    return found | {"text": [file_hash(file) for file in files], "vectors": file_hash(text.vectors)}


@dataclass
class _Training:
    """One training."""

    sizes: Sizes
    train: NumberedPairs
    dev: NumberedPairs
    settings: CoVeSettings
    folder: TrainFolder
    progress: Progress
    flag: StopFlag

    def __post_init__(self) -> None:
        torch.manual_seed(self.settings.seed)
        self.network = Translator(self.sizes, self.settings.dropout)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=self.settings.learning_rate)
        self.log = self.folder.restore(self.network)

    def run(self) -> Log:
        """All epochs that are left; then the network has the best one's weights."""
        settings, num_words = self.settings, self.train.num_words
        trained = Count(self.progress, "training", settings.epochs * num_words, "words", done=len(self.log) * num_words)
        while len(self.log) < settings.epochs and self._rate() >= settings.least_learning_rate:
            self._epoch(trained)
        trained.finish()
        self.folder.restore_best(self.network)
        return self.log

    def _rate(self) -> float:
        found = [epoch["dev_perplexity"] for epoch in self.log]
        return self.settings.learning_rate / 2 ** sum(later >= before for before, later in pairwise(found))

    def _epoch(self, trained: Count) -> None:
        epoch, rate, began, nats = len(self.log), self._rate(), time.monotonic(), 0.0
        self.optimizer.param_groups[0]["lr"] = rate
        groups = self.train.groups(self.settings.batch_pairs, np.random.default_rng([self.settings.seed, epoch]))
        self.network.train()
        for number, places in enumerate(groups):
            self.flag.check()
            torch.default_generator.manual_seed(_PRIME * self.settings.seed + epoch * len(groups) + number)
            *source, words = self.train.batch(places)
            nats += self._step(self.network.loss(self.network.read(*source), words), len(places))
            trained.add(int((words[:, 1:] != PADDING_ID).sum()))
        seconds = time.monotonic() - began
        found = perplexity(self.network, self.dev, self.flag)
        if math.isnan(found):
            raise self._diverged("the perplexity of the dev pairs is nan")
        values = {"epoch": epoch + 1, "learning_rate": rate, "dev_perplexity": found, "seconds": round(seconds, 1)}
        values["perplexity"] = _exp(nats / self.train.num_words)
        values["words_per_second"] = round(self.train.num_words / seconds)
        self.log = [*self.log, values]
        self.folder.save(self.network, self.log, is_best=best_epoch(self.log) == len(self.log))
        self.progress.say(f"epoch {epoch + 1}: dev perplexity {found:.2f}, learning rate {rate:g}")

    def _step(self, loss: torch.Tensor, num_pairs: int) -> float:
        """The loss, of all words together."""
        self.optimizer.zero_grad()
        (loss / num_pairs).backward()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip_norm)
        if not (math.isfinite(loss.item()) and math.isfinite(norm.item())):
            raise self._diverged(f"the loss is {loss.item():g} and the gradient's norm {norm.item():g}")
        self.optimizer.step()
        return loss.item()

    def _diverged(self, what: str) -> ConfigError:
        return ConfigError(
            f"{self.folder.path}: {what}: the training diverged after {len(self.log)} epochs. Choose a smaller "
            "--learning-rate."
        )
