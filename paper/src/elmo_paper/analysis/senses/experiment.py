"""The paper's table 5 on one's own files: encoders, layers and baselines on sense-annotated test sets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from elmo.embed.encoder import Encoder
from elmo.process.progress.report import Count, Progress, following
from elmo.static.vectors import require_known_words
from elmo_paper.analysis.encoders import layer_name
from elmo_paper.analysis.senses.files import ALL_SETS, SenseFiles, TestSet, read_files
from elmo_paper.analysis.senses.inventory import Word, most_frequent_or_first
from elmo_paper.analysis.senses.nearest import (
    VOTERS,
    NearestSense,
    TrainingInstances,
    instance_vectors,
    train,
)
from elmo_paper.analysis.senses.raganato import read_sentences
from elmo_paper.analysis.senses.score import Figures, Judged, paired_interval, score

FIRST_SENSE, MOST_FREQUENT = "first sense", "most frequent sense"


@dataclass(frozen=True)
class SenseSystem:
    """One row of the table: its answers on every test set."""

    encoder: str
    """Empty for what needs no vectors."""
    layer: str
    answers: Mapping[str, tuple[str | None, ...]]
    """Test set -> an answer for each instance."""


@dataclass(frozen=True)
class SenseTable:
    """All systems on all sets."""

    sets: tuple[TestSet, ...]
    systems: tuple[SenseSystem, ...]

    def record(self) -> dict[str, object]:
        """As plain values for JSON: for each system its figures by set."""
        rows = []
        for before, system in zip((None, *self.systems), self.systems, strict=False):
            below = before if before is not None and system.encoder and before.encoder == system.encoder else None
            rows.append(
                {
                    "encoder": system.encoder,
                    "layer": system.layer,
                    "sets": self.scores(system),
                    "minus_first_sense": self.difference(system, self.systems[0]),
                    "over_layer_below": below and self.difference(system, below),
                }
            )
        return {"sets": {one.name: len(one.judged) for one in self.sets}, "systems": rows}

    def scores(self, system: SenseSystem) -> dict[str, Figures]:
        """By test set, and over all of them."""
        found = {one.name: score(one.judged, system.answers[one.name]) for one in self.sets}
        return found | {ALL_SETS: score(self.judged, self.together(system))}

    @property
    def judged(self) -> list[Judged]:
        """The instances of all sets, one after the other."""
        return [judged for one in self.sets for judged in one.judged]

    def together(self, system: SenseSystem) -> list[str | None]:
        """A system's answers on all sets, one after the other."""
        return [answer for one in self.sets for answer in system.answers[one.name]]

    def difference(self, system: SenseSystem, other: SenseSystem) -> tuple[float, float, float]:
        """F1 of `system` minus that of `other` over all sets, and its 95 % interval over documents."""
        answers, others = self.together(system), self.together(other)
        low, high = paired_interval(self.judged, answers, others)
        return score(self.judged, answers)["f1"] - score(self.judged, others)["f1"], low, high


def sense_table(files: SenseFiles, encoders: Mapping[str, Encoder], *, progress: Progress | bool = False) -> SenseTable:
    """Trains on one corpus, tests on the others. Raises TextError for files that don't hold what they should.

    The first two systems are the baselines; an encoder of several layers gives a system for each. `progress`: receives
    the sentences that are read, and those embedded with each encoder; True: bars on stderr.
    """
    with following(progress) as reported:
        data = read_files(files, reported)
        seen, inventory, keys, sets, dev = data.seen, data.inventory, data.keys, data.sets, data.dev
        require_known_words(
            encoders.values(), (word for one in sets for sentence in one.sentences for word in sentence.tokens)
        )
        systems = [
            _baseline(FIRST_SENSE, sets, inventory.first_sense),
            _baseline(MOST_FREQUENT, sets, lambda word: most_frequent_or_first(word, seen, inventory)),
        ]
        for name, encoder in encoders.items():
            embedded = Count(reported, f"{name}: embedding {files.train.name}", data.num_sentences, "sentences")
            instances = instance_vectors(embedded.each(read_sentences(files.train)), encoder)
            voters = TrainingInstances(seen, inventory) if dev else None
            instances = voters.collected(instances, keys) if voters else instances
            nearest = NearestSense(train(instances, keys, seen, encoder), seen, inventory)
            found = {one.name: [*_answers(one, encoder, nearest)] for one in sets}
            for layer in range(encoder.num_layers):
                answers = {test: tuple(senses[layer] for senses in given) for test, given in found.items()}
                systems.append(SenseSystem(name, layer_name(encoder, layer), answers))
            if voters and dev:
                systems += _voted(name, encoder, voters, dev, sets)
        return SenseTable(sets, tuple(systems))


def _baseline(name: str, sets: Sequence[TestSet], rule: Callable[[Word], str | None]) -> SenseSystem:
    return SenseSystem("", name, {one.name: tuple(rule(word) for word in one.words) for one in sets})


def _answers(one: TestSet, encoder: Encoder, nearest: NearestSense) -> Iterator[list[str | None]]:
    for _, instance, vectors in instance_vectors(one.sentences, encoder):
        yield nearest.answer((instance.lemma, instance.pos), vectors)


def _voted(
    name: str, encoder: Encoder, voters: TrainingInstances, dev: TestSet, sets: Sequence[TestSet]
) -> Iterator[SenseSystem]:
    # Beside the test sets, not among them: it may be called like one of these.
    of_dev = _votes(encoder, voters, dev)
    found = {one.name: _votes(encoder, voters, one) for one in sets}
    for layer in range(encoder.num_layers):
        scores = [score(dev.judged, [one[k][layer] for one in of_dev])["f1"] for k in range(len(VOTERS))]
        best = scores.index(max(scores))
        answers = {one.name: tuple(answer[best][layer] for answer in found[one.name]) for one in sets}
        of_layer = f"{layer_name(encoder, layer)} (k = {VOTERS[best]})".strip()
        yield SenseSystem(f"{name} k-NN", of_layer, answers)


def _votes(encoder: Encoder, voters: TrainingInstances, one: TestSet) -> list[list[list[str | None]]]:
    """(instances, numbers of voters, layers)"""
    found = instance_vectors(one.sentences, encoder)
    return [voters.answers((instance.lemma, instance.pos), vectors) for _, instance, vectors in found]
