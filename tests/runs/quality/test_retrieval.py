"""runs/quality/retrieval.py: BM25, ranks and intervals by their definitions, and the whole on a text of one's own."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[3] / "runs" / "quality" / "retrieval.py"
KINDS = ["red", "blue", "green", "빨간"]


@pytest.fixture
def data(tmp_path) -> Path:
    """Four articles; every question has the number of its paragraph."""
    articles = [
        [
            {
                "context": f"This is {kind} {4 * number + place} of many.",
                "qas": [{"question": f"Which {kind} is {4 * number + place}?"}],
            }
            for place, kind in enumerate(KINDS)
        ]
        for number in range(4)
    ]
    path = tmp_path / "own" / "data.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs} for paragraphs in articles]}), encoding="utf-8")
    return path


def collection(script, paragraphs, questions, answers):
    articles = np.zeros(len(questions), int)
    split = [[text.split() for text in texts] for texts in (paragraphs, questions)]
    return script.Collection("own", *split, np.array(answers), articles)


def test_bm25_is_its_formula(script):
    found = script.bm25(collection(script, ["A a b .", "b c", "c c c d"], ["a d ?", "x"], [0, 1]), script.words)
    mean = 9 / 3

    def part(texts_with, count, length):
        idf = math.log(1 + (3 - texts_with + 0.5) / (texts_with + 0.5))
        return idf * count / (count + 1.2 * (0.25 + 0.75 * length / mean))

    np.testing.assert_allclose(found, [[part(1, 2, 3), 0, part(1, 1, 4)], [0, 0, 0]], rtol=1e-5)


def test_terms_are_words_or_their_pairs_of_letters(script):
    assert script.words(["The", "cat", ",", "3"]) == ["the", "cat", "3"]
    assert script.pairs(["밥을", "a", "먹었다", "."]) == ["밥을", "a", "먹었", "었다"]


def test_ranks_count_equal_scores_half_and_mrr_ends_at_ten(script):
    scores = np.array([[3.0, 1, 2], [1, 1, 1], [0, 5, 9]])
    found = script.ranks(scores, np.array([0, 1, 0]))
    assert found.tolist() == [1, 2, 3]
    assert script.reciprocal(np.array([1.0, 4, 10, 11])).tolist() == [1, 0.25, 0.1, 0]


def test_articles_are_drawn_whole(script):
    """Of two articles with the means 0 and 1, a draw has one of three means."""
    draws = script.resampled(np.array([0.0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert set(draws.tolist()) == {0, 0.5, 1}
    assert draws.mean() == pytest.approx(0.5, abs=0.05)


def test_the_ways_to_compare_are_their_definitions(script):
    """One question, two paragraphs: cosines of means, and the mean of each token's largest cosine."""
    table = {"a": [1.0, 0], "b": [0, 1.0], "c": [1.0, 1.0]}
    own = collection(script, ["a b", "c"], ["a c"], [0])
    found = {
        (way, how): scores()
        for way, how, scores in script.of_vectors(
            own, lambda texts: [np.array([table[token] for token in text], np.float32) for text in texts]
        )
    }
    half = math.sqrt(0.5)
    np.testing.assert_allclose(found["MaxSim", "plain"], [[(1 + half) / 2, (half + 1) / 2]], atol=1e-6)
    mean = np.array([2, 1]) / math.sqrt(5)
    np.testing.assert_allclose(found["mean", "plain"], [[mean @ [half, half], mean @ [half, half]]], atol=1e-6)
    assert set(found) == {
        (way, how) for way in ("mean", "MaxSim") for how in ("plain", "idf", "mean removed", "idf, mean removed")
    }


@pytest.mark.slow
def test_it_runs_and_its_record_holds_every_question(data, tmp_path):
    vectors = tmp_path / "static.txt"
    vectors.write_text("2 2\nred 1 0\nmany 0 1\n")
    record = tmp_path / "record.json"
    flags = ["--data", str(data), "--test", str(data), "--static", str(vectors), "-o", str(record)]
    done = subprocess.run([sys.executable, str(SCRIPT), *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text())
    assert [part["questions"] for part in found["sets"]] == [8, 16]
    systems = set(found["chosen"]) | {"random order"}
    assert {"BM25", "mean of static vectors", "MaxSim of small-en", "BM25 and MaxSim of small-en"} < systems
    for part in found["sets"]:
        assert set(part["ranks"]) == systems
        for row in part["rows"]:
            given = [float(rank) for rank in part["ranks"][row["system"]].split()]
            assert row["MRR@10"][0] == pytest.approx(np.mean([1 / it if it <= 10 else 0 for it in given]))
            assert f"| {row['system']} |" in done.stdout
    assert "red" not in record.read_text().replace("static.txt", "")


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "text.json").write_text('{"data": 3}')
    command = [sys.executable, str(SCRIPT), "--data", str(tmp_path / "text.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Traceback")) == (2, 0)
    assert "text.json: can't be read as SQuAD's JSON" in done.stderr
