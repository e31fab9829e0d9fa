"""The table of senses: baselines equal the reference's figures, the nearest prototype equals a plain loop."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import TextError
from elmo.static.vectors import StaticVectors
from elmo_paper.analysis.encoders import StaticEncoder, WithAverage
from elmo_paper.analysis.measures import unit
from elmo_paper.analysis.record import row_name
from elmo_paper.analysis.senses.experiment import sense_table
from elmo_paper.analysis.senses.files import SenseFiles, key_file
from elmo_paper.analysis.senses.inventory import (
    Inventory,
    SeenSenses,
    count_senses,
    most_frequent_or_first,
    read_inventory,
)
from elmo_paper.analysis.senses.nearest import VOTERS, NearestSense, Prototypes, TrainingInstances
from elmo_paper.analysis.senses.raganato import Instance, read_keys, read_sentences
from elmo_paper.analysis.senses.score import Judged, paired_interval, score


@pytest.fixture
def embedder(tiny_bilm) -> Embedder:
    return Embedder(tiny_bilm)


def plain_answers(files: SenseFiles, embedder: Embedder, layer: int) -> list[str | None]:
    """One sentence and one sense at a time, in double precision."""
    keys, inventory = read_keys(key_file(files.train)), read_inventory(files.inventory)
    vectors: dict[tuple[str, str], list[np.ndarray]] = {}
    for sentence in read_sentences(files.train):
        (layers,) = embedder.embed([sentence.tokens])
        for it in sentence.instances:
            for key in keys[it.id]:
                mean = layers[layer, it.start : it.end].astype(np.float64).mean(axis=0)
                vectors.setdefault((it.lemma, key), []).append(mean)
    answers = []
    for sentence in read_sentences(files.tests[0]):
        (layers,) = embedder.embed([sentence.tokens])
        for it in sentence.instances:
            query = layers[layer, it.start : it.end].astype(np.float64).mean(axis=0)
            found = {
                key: np.mean(rows, axis=0) @ query / np.linalg.norm(np.mean(rows, axis=0)) / np.linalg.norm(query)
                for (lemma, key), rows in vectors.items()
                if lemma == it.lemma
            }
            first = inventory.first_sense((it.lemma, it.pos))
            answers.append(max(found, key=found.__getitem__) if found else first)
    return answers


def test_every_layer_answers_as_a_plain_loop_does(files, embedder, recorded_progress):
    table = sense_table(files, {"biLM": WithAverage(embedder)}, progress=recorded_progress)
    name = files.train.name
    recorded_progress.require({f"reading {name}": "sentences", f"biLM: embedding {name}": "sentences"})
    systems = {row_name(vars(system)): table.together(system) for system in table.systems}
    assert systems["biLM, layer 1"] == plain_answers(files, embedder, 1)
    assert systems["biLM, layer 2"] == plain_answers(files, embedder, 2)
    assert list(systems) == [
        *("first sense", "most frequent sense", "biLM, layer 0", "biLM, layer 1", "biLM, layer 2"),
        "biLM, mean of layers",
    ]


def test_baselines_answer_from_dictionary_and_corpus(files):
    table = sense_table(files, {})
    first, frequent = (table.together(system) for system in table.systems)
    assert first == ["bank%r", None, "bank%r", "nobody%1", None]  # of two senses of rank 1 the more frequent one
    assert frequent == ["bank%m", "river%1", "bank%m", "nobody%1", None]
    scores = table.scores(table.systems[1])["all"]
    expected = {"instances": 5, "answered": 4, "correct": 3, "precision": 75, "recall": 60, "f1": 200 * 3 / 9}
    assert scores == pytest.approx(expected)


def test_where_the_word_alone_decides_frequency_breaks_ties(files):
    static = StaticVectors(("bank", "river"), np.eye(2, dtype=np.float32))
    table = sense_table(files, {"static": StaticEncoder(static)})
    system = table.systems[-1]
    assert (system.encoder, system.layer) == ("static", "")
    assert [table.together(system)[place] for place in (0, 2)] == ["bank%m", "bank%m"]


def test_static_vectors_of_none_of_the_words_are_refused(files):
    static = StaticVectors(("elsewhere", "gav"), np.eye(2, dtype=np.float32))
    with pytest.raises(TextError, match="has none of the 11 distinct words of the text"):
        sense_table(files, {"static": StaticEncoder(static)})


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_one_vector_are_ties_though_they_are_rounded_differently(seed):
    vector = np.random.default_rng(seed).normal(size=(1, 256)).astype(np.float32)
    counts = {"often": 7, "seldom": 3}
    sums = np.zeros((2, 1, 256), dtype=np.float32)
    for row, count in enumerate(counts.values()):
        for _ in range(count):
            sums[row] += vector
    word = ("bank", "NOUN")
    prototypes = Prototypes({(word, "often"): 0, (word, "seldom"): 1}, unit(sums))
    answer = NearestSense(prototypes, SeenSenses({word: counts}), Inventory({})).answer(word, vector)
    assert answer == ["often"]


def test_the_record_holds_figures_by_set_and_over_the_layer_below(files, embedder):
    record = json.loads(json.dumps(sense_table(files, {"biLM": embedder}).record()))
    assert record["sets"] == {"t": 5}
    row = record["systems"][0]
    assert row["minus_first_sense"] == [0, 0, 0]
    assert [row["over_layer_below"] is None for row in record["systems"]] == [True, True, True, False, False]
    first, second = (row["sets"]["all"]["f1"] for row in record["systems"][2:4])
    assert record["systems"][3]["over_layer_below"][0] == pytest.approx(second - first)


def test_the_nearest_instances_vote_by_their_cosines(files, embedder):
    dev = SenseFiles(files.train, files.tests, files.inventory, dev=files.tests[0])
    table = sense_table(dev, {"biLM": embedder})
    voted = [system for system in table.systems if system.encoder == "biLM k-NN"]
    assert len(voted) == 3 and voted[2].layer.startswith("layer 2 (k = ")
    k = int(voted[2].layer.split()[-1].rstrip(")"))
    keys, inventory = read_keys(key_file(files.train)), read_inventory(files.inventory)
    instances = []
    for sentence in read_sentences(files.train):
        (layers,) = embedder.embed([sentence.tokens])
        instances += [(it, layers[2, it.start : it.end].mean(axis=0)) for it in sentence.instances]
    expected = []
    for sentence in read_sentences(files.tests[0]):
        (layers,) = embedder.embed([sentence.tokens])
        for it in sentence.instances:
            query, votes = layers[2, it.start : it.end].mean(axis=0), {}
            of_word = [
                (one, v) for one, v in instances if (one.lemma, one.pos) == (it.lemma, it.pos) and one.id in keys
            ]
            cosines = [float(v @ query / np.linalg.norm(v) / np.linalg.norm(query)) for _, v in of_word]
            for place in np.argsort(-np.array(cosines), kind="stable")[:k]:
                for sense in keys[of_word[place][0].id]:
                    votes[sense] = votes.get(sense, 0) + cosines[place]
            expected.append(max(votes, key=votes.get) if votes else inventory.first_sense((it.lemma, it.pos)))
    assert table.together(voted[2]) == expected


@pytest.mark.parametrize("order", ["aab", "aba", "baa"])
def test_of_equally_near_instances_each_has_its_share_of_a_vote_whatever_their_order(order):
    word, vectors = ("bank", "NOUN"), np.random.default_rng(0).normal(size=(1, 8)).astype(np.float32)
    voters = TrainingInstances(SeenSenses({word: {"b": 1, "a": 2}}), Inventory({}))
    instances = [(None, Instance(str(n), *word, 0, 1), vectors * (n + 1)) for n in range(len(order))]
    assert len(list(voters.collected(instances, {str(n): (sense,) for n, sense in enumerate(order)}))) == 3
    assert voters.answers(word, vectors) == [["a"]] * len(VOTERS)


def test_the_interval_of_two_equal_systems_is_zero_and_of_a_better_one_above():
    judged = [Judged(f"d{number % 10}", ("a",)) for number in range(100)]
    right, wrong = ["a"] * 100, ["b"] * 100
    assert paired_interval(judged, right, right) == (0, 0)
    half = ["a" if number % 4 else "b" for number in range(100)]
    one_document = [replace(one, document="d") for one in judged]
    assert paired_interval(one_document, right, wrong) == (-100, 100)
    low, high = paired_interval(judged, half, wrong)
    assert 40 < low < 75 < high <= 100 and score(judged, half)["f1"] == 75


def _first_row(inventory: Inventory, word: tuple[str, str]) -> str | None:
    listed = inventory.senses.get(word, ())
    return min(listed, key=lambda sense: sense.rank).key if listed else None


@pytest.mark.slow
def test_the_figures_without_vectors_equal_the_references_exactly(shared: Path):
    folder = shared / "data" / "wsd"
    expected = json.loads((shared / "golden" / "tasks" / "wsd" / "figures.json").read_text())
    inventory = read_inventory(folder / "sense-inventory.tsv.xz")
    semcor = folder / "semcor" / "semcor.data.xml.xz"
    seen = count_senses(read_sentences(semcor), read_keys(key_file(semcor)))
    assert len(seen.counts) == expected["semcor"]["lemma_pos"]
    frequent = "semcor_mfs_ties_by_first_occurrence_backoff_rank1_ties_by_semcor_count"
    rules = {
        "rank1_file_order": lambda word: _first_row(inventory, word),
        "rank1_ties_by_semcor_count": inventory.first_sense,
        frequent: lambda word: most_frequent_or_first(word, seen, inventory),
    }
    for name in ("senseval2-amended", "senseval3-amended", "semeval2013-amended", "semeval2007"):
        path = folder / "eval" / f"{name}.data.xml"
        keys = read_keys(key_file(path))
        instances = [instance for sentence in read_sentences(path) for instance in sentence.instances]
        judged = [Judged("", keys[instance.id]) for instance in instances]
        for rule, answer in rules.items():
            found = score(judged, [answer((instance.lemma, instance.pos)) for instance in instances])
            row = expected[name][rule]
            assert (found["answered"], found["correct"]) == (row["answered"], row["correct"]), (name, rule)
            assert round(found["f1"], 4) == row["f1"]
