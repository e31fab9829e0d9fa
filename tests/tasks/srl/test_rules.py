"""The rule of both sides."""

from elmo.tasks.srl.data import Proposition, RoleSentence
from elmo.tasks.srl.task import TASK, sides

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
