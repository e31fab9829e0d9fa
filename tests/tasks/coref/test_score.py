"""MUC, B3 and CEAF-phi4 equal the CoNLL reference scorer's figures, to the printed digit."""

import json
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError, TextWarning
from elmo.tasks.coref.score import coreference_scores, score_files

pytest.importorskip("scipy")

# The scorer's names and ours.
_METRICS = {"muc": "muc", "bcub": "b3", "ceafe": "ceaf_phi4", "mentions": "mentions"}
_ILL_DEFINED = "key mention in two clusters (ill defined)"


def cases(golden_folder, name):
    path = golden_folder / "tasks" / "coref_metric" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def scored(case, folder):
    for name in ("key", "response"):
        (folder / f"{name}.conll").write_text(case[name], encoding="utf-8")
    return score_files(folder / "key.conll", folder / "response.conll")


def require_equal(found, expected):
    for theirs, ours in _METRICS.items():
        figures = expected[theirs]
        for name in ("recall", "precision"):
            assert found[ours][f"{name}_numerator"] == pytest.approx(figures[f"{name}_num"], abs=1e-6)
            assert found[ours][f"{name}_denominator"] == pytest.approx(figures[f"{name}_den"], abs=1e-6)
        for name in ("recall", "precision", "f1"):
            assert f"{found[ours][name]:.2f}" == f"{figures[name]:.2f}"
    assert found["printed_average_f1"] == pytest.approx(expected["average_f1"], abs=1e-5)
    assert found["average_f1"] == pytest.approx(expected["average_f1"], abs=0.011)


@pytest.mark.parametrize("name", ["d_0", "d_000", "d_0000"])
def test_json_lines_have_name_and_part_in_one(tmp_path, name):
    rows = "".join(
        f"d 0 {place} {word} - - - - - - {cell}\n" for place, word, cell in ((0, "a", "(1)"), (1, "b", "(1)"))
    )
    (tmp_path / "key.conll").write_text(f"#begin document (d); part 000\n{rows}\n#end document\n")
    document = {"doc_key": name, "sentences": [["a", "b"]], "clusters": [[[0, 0], [1, 1]]]}
    (tmp_path / "response.jsonl").write_text(json.dumps(document) + "\n")
    if name == "d_0000":
        with pytest.raises(TextError, match="response.jsonl:1: 'd_0000' and all other documents here are not in"):
            score_files(tmp_path / "key.conll", tmp_path / "response.jsonl")
        return
    for key, response in (("key.conll", "response.jsonl"), ("response.jsonl", "key.conll")):
        assert score_files(tmp_path / key, tmp_path / response)["average_f1"] == 100


def test_documents_of_the_key_that_cannot_be_read_may_be_left_out(tmp_path):
    lines = [json.dumps({"doc_key": name, "sentences": [["a", "b"]], "clusters": clusters}) + "\n"
             for name, clusters in (("d", [[[0, 0], [1, 1]]]), ("e", [[[0, 7]]]))]  # fmt: skip
    (tmp_path / "key.jsonl").write_text("".join(lines))
    (tmp_path / "response.jsonl").write_text(lines[0])
    with pytest.raises(TextError, match=r"key.jsonl:2: .* is \[0, 7\], not"):
        score_files(tmp_path / "key.jsonl", tmp_path / "response.jsonl")
    with pytest.warns(TextWarning, match="left out what can't be read, 1 in all"):
        found = score_files(tmp_path / "key.jsonl", tmp_path / "response.jsonl", errors="skip")
    assert (found["documents"], found["average_f1"]) == (1, 100)


@pytest.mark.parametrize("name", ["files_0", "files_1", "files_2"])
def test_every_file_scores_as_in_the_reference_scorer(name, golden_folder, tmp_path):
    found = cases(golden_folder, name)
    assert found
    for case in found:
        require_equal(scored(case, tmp_path), case["expected"])


def test_edge_cases_score_as_in_the_reference_scorer(golden_folder, tmp_path):
    """But for one that the official scorer refuses: a mention may be in another cluster too at most ten times."""
    found = [case for case in cases(golden_folder, "edge_cases") if "average_f1" in case["expected"]]
    for case in found:
        if case["name"] != _ILL_DEFINED:
            require_equal(scored(case, tmp_path), case["expected"])


def test_other_words_are_refused(golden_folder, tmp_path):
    case = cases(golden_folder, "files_0")[0]
    with pytest.raises(TextError, match="'TINDLE .*' in the predictions, 'tindle "):
        scored({**case, "response": case["response"].replace("tindle", "TINDLE")}, tmp_path)
    with pytest.raises(TextError, match="token 3 is .* in the predictions, ': .* in the gold file"):
        scored(
            {**case, "response": case["response"].replace("nw/inv00\t0\t2\t:\tX\t*\t-\t-\t-\tann\t*\t-\n", "")},
            tmp_path,
        )


def test_figures_without_singletons_stand_beside():
    key = [[(0, 0), (2, 2)], [(4, 4)]]
    scores = coreference_scores([(key, [[(0, 0), (2, 2)]])])
    assert scores["b3"]["recall"] == 66.66
    assert scores["without_singletons"]["b3"]["recall"] == 100.0
    assert "without_singletons" not in coreference_scores([(key[:1], key)])


def test_nothing_divided_by_nothing_is_0():
    assert coreference_scores([])["average_f1"] == 0
    assert coreference_scores([([], [])])["average_f1"] == 0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (5, 3), (4, 4)])
@given(seed=st.integers(0, 1000))
def test_ceaf_aligns_clusters_as_brute_force_does(rows, columns, seed):
    chance = random.Random(seed)
    mentions = [(place, place) for place in range(20)]
    key, response = ([[] for _ in range(count)] for count in (rows, columns))
    for mention in mentions:
        chance.choice(key).append(mention)
        chance.choice(response).append(mention)
    key, response = ([cluster for cluster in side if cluster] for side in (key, response))
    few, many = sorted((key, response), key=len)
    best = max(
        sum(2 * len(set(a) & set(b)) / (len(a) + len(b)) for a, b in zip(few, order, strict=True))
        for order in permutations(many, len(few))
    )
    assert coreference_scores([(key, response)])["ceaf_phi4"]["recall_numerator"] == pytest.approx(best)
