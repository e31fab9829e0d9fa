"""Argument F1 equals srl-eval.pl's to the printed digit; the rule of both sides."""

import json

import pytest

from elmo.errors import TextError
from elmo.tasks.srl.columns import read_sentences_of_columns, spans_of_column
from elmo.tasks.srl.data import Proposition, RoleSentence, write_props
from elmo.tasks.srl.score import Argument, Pair, argument_counts, arguments_of, role_scores, score_role_files
from elmo.tasks.srl.task import TASK, sides


def cases(folder):
    named = [(f"document {number}", case) for number, case in enumerate(read(folder / "documents.json"))]
    return [*named, *((case["name"], case) for case in read(folder / "edge_cases.json"))]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def scored(tmp_path, gold, predicted):
    paths = tmp_path / "gold", tmp_path / "predicted"
    for path, text in zip(paths, (gold, predicted), strict=True):
        path.write_text(text, encoding="utf-8")
    return score_role_files(*paths, "props", "utf-8")


def assert_equal(found, expected):
    assert found["sentences"] == expected["sentences"]
    assert found["propositions"] == expected["propositions"]
    assert found["perfect_props"] == pytest.approx(expected["perfect_props"], abs=0.005001)
    for own, other in [(found, expected["overall"]), *((found["per_label"].get(label), counts) for label, counts in
                                                       expected["labels"].items())]:  # fmt: skip
        assert {name: own[name] for name in ("correct", "excess", "missed")} == {
            name: other[name] for name in ("correct", "excess", "missed")
        }
        for name in ("precision", "recall", "f1"):
            assert own[name] == pytest.approx(other[name], abs=0.005001)
    assert set(found["per_label"]) == set(expected["labels"])


def test_scores_equal_the_official_ones_in_every_case(tmp_path, golden_folder):
    for name, case in cases(golden_folder / "tasks" / "srl_metric"):
        try:
            assert_equal(scored(tmp_path, case["gold"], case["predicted"]), case["expected"])
        except AssertionError as error:
            raise AssertionError(name) from error


def test_scores_of_one_file_of_all_documents_equal_the_official_ones(tmp_path, golden_folder):
    documents = read(golden_folder / "tasks" / "srl_metric" / "documents.json")
    gold, predicted = ("".join(case[part] for case in documents) for part in ("gold", "predicted"))
    assert_equal(scored(tmp_path, gold, predicted), read(golden_folder / "tasks" / "srl_metric" / "all_documents.json"))


def with_words(path, props):
    path.write_text("".join(f"w {line}\n" if line.strip() else "\n" for line in props.splitlines()), encoding="utf-8")
    return list(read_sentences_of_columns(path, "conll2005", "utf-8"))


def roles_of(sentence):
    """Its propositions; "V" may be missing in what a system predicted."""
    columns = (spans_of_column(column, sentence.places) for column in sentence.columns)
    return [Proposition((place, place + 1), spans) for place, spans in zip(sentence.marked, columns, strict=True)]


def test_predictions_written_as_props_have_the_official_figure(tmp_path, golden_folder):
    for case in read(golden_folder / "tasks" / "srl_metric" / "documents.json")[:20]:
        sentences = with_words(tmp_path / "columns", case["predicted"])
        props = write_props((RoleSentence(one.words, columns=one), roles_of(one)) for one in sentences)
        assert_equal(scored(tmp_path, case["gold"], "\n".join(props)), case["expected"])


def test_continuations_join_the_latest_argument_of_their_label():
    spans = [(0, 1, "A0"), (1, 2, "A1"), (3, 4, "C-A0"), (5, 7, "C-A0"), (8, 9, "C-A2"), (9, 10, "R-A0")]
    assert arguments_of(spans) == [
        Argument("A0", 0, 7, ((0, 1), (3, 4), (5, 7))),
        Argument("A1", 1, 2),
        Argument("A2", 8, 9),
        Argument("R-A0", 9, 10),
    ]


def test_figures_beside_f1_are_right():
    gold = [(0, 1, "A0"), (1, 2, "V"), (2, 4, "A1"), (5, 6, "C-A1")]
    predicted = [(0, 1, "A1"), (1, 2, "V"), (2, 4, "A1")]
    scores = role_scores([Pair(gold, predicted, "verbs"), Pair([(0, 1, "V")], [(0, 1, "V")], "nouns")])
    assert (scores["correct"], scores["excess"], scores["missed"]) == (0, 2, 2)
    assert scores["span_f1"] == pytest.approx(100 * 2 / 5)
    assert scores["unlabelled_f1"] == pytest.approx(100 * 4 / 5)
    assert scores["perfect_props"] == 50
    assert scores["per_label"]["V"]["f1"] == 100
    assert scores["per_predicate"]["nouns"]["missed"] == 0
    assert argument_counts([Pair(gold, predicted)]) == {"A0": (0, 0, 1), "A1": (0, 2, 1)}
    assert role_scores([])["f1"] == 0


def test_a_predicate_that_the_gold_file_lacks_does_not_answer_for_another_one(tmp_path):
    gold = "- (A0*) *\neat (V*) *\n- * *\nsleep * (V*)\n- * (AM-LOC*)\n"
    predicted = "- (A0*) *\neat (V*) *\nand * (V*)\n- * *\n- * (AM-LOC*)\n"
    scores = scored(tmp_path, gold, predicted)  # srl-eval.pl: 1 correct, 0 excess, 1 missed
    assert [scores[name] for name in ("correct", "excess", "missed", "missing_propositions")] == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            "x (V*)\n- *\n",
            "x (V*)\n",
            r"predicted:1: token 2 is 'nothing' in the predictions, '-' .*gold:1",
        ),
        ("x (V*)\n\ny (V*)\n", "x (V*)\n", r"gold:3: token 1 is 'nothing' in the predictions"),
        (
            "x (V*)\n",
            "x (V*)\n\ny (V*)\n",
            r"predicted:3: token 1 is .* in the predictions, 'nothing' .*which has ended",
        ),
        ("x (V*)\ny *\n", "x (V*)\ny *\n", r"gold:2: the sentence has 2 predicates, but only 1 columns"),
        ("x (V*)\n", "x V\n", r"predicted:1: the cell 'V' isn't of the form"),
    ],
)
def test_files_that_do_not_fit_are_errors_with_their_lines(tmp_path, gold, predicted, message):
    with pytest.raises(TextError, match=message):
        scored(tmp_path, gold, predicted)


EXAMPLE = RoleSentence(
    ["she", "saw", "him", "."], [Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V"), (2, 3, "A1")])], [(1, 2)]
)


def test_all_before_and_after_the_predicate_is_an_argument():
    (rule,) = TASK.rules([EXAMPLE])
    assert rule.predict([EXAMPLE]) == [[Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V"), (2, 3, "A1")])]]
    assert "before the predicate is A0" in rule.label


def test_empty_sides_and_unknown_labels_give_no_span():
    assert sides((0, 1), 1, "A0", "A1") == [(0, 1, "V")]
    assert sides((1, 2), 5, "", "A1") == [(1, 2, "V"), (2, 4, "A1")]
