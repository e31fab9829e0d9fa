"""Labels of classification tasks: their order is the same in every process."""

import subprocess
import sys

import pytest

from elmo.errors import TextError
from elmo.tasks.labels import label_column_beside, require_learnable

PROGRAM = "from elmo.tasks.labels import in_order; print(in_order(['10', '1', '01', '2', '001']))"


def test_labels_that_are_equal_numbers_have_one_order_in_every_process():
    """A resumed training takes its labels from the file again."""
    for seed in "1234":
        command = [sys.executable, "-c", PROGRAM]
        found = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        assert found.stdout == "['001', '01', '1', '2', '10']\n"


def test_labels_that_hardly_ever_occur_twice_or_are_texts_can_not_be_learned():
    require_learnable([str(n) for n in range(20)], "f", "Step.")
    require_learnable([str(n % 40) for n in range(80)], "f", "Step.")
    with pytest.raises(TextError, match=r"^f: there are 21 different labels .* for 41 examples, .* Step\.$"):
        require_learnable([str(n % 21) for n in range(41)], "f", "Step.")
    require_learnable(["agrees with all of it", "no"], "f", "Step.")
    with pytest.raises(TextError, match=r"f: 2 of the 3 different labels have more than 4 words \('a man"):
        require_learnable(["a man sleeps over there", "he runs to the house", "no"], "f", "Step.")


def test_the_column_of_labels_is_seen_beside_one_of_texts():
    texts = ["a man sleeps", "a dog runs now", "it rains here", "he is old"]
    rows = [[text, f"number {n} of it", "yn"[n % 2]] for n, text in enumerate(texts)]
    assert label_column_beside(rows, 0) == 2
    assert label_column_beside(rows, 2) is None
    assert label_column_beside([[text, str(n)] for n, text in enumerate(texts)], 0) is None
    # Each premise in several pairs, premises without spaces, and labels of some words beside the name of a part.
    assert label_column_beside([[texts[n // 3], f"so {n}", "ync"[n % 3]] for n in range(12)], 0) == 2
    assert label_column_beside([[text, "yn"[n % 2]] for n, text in enumerate(texts[:2] * 2)], 0) == 1
    chinese = [
        "他今天早上在公园里和他的朋友们一起跑步",
        "她昨天晚上在家里给孩子们讲了一个故事",
        "他们下个星期要坐火车去北京看望父母亲",
    ]
    assert label_column_beside([[text, "她是", "yn"[n % 2]] for n, text in enumerate(chinese * 2)], 0) == 2
    named = ["a very positive one", "a very negative one", "one in between them"]
    assert label_column_beside([[named[n % 3], f"so {n}", ["train", "test"][n % 2]] for n in range(30)], 0) is None
    assert label_column_beside([["not entailed by it", "x"], ["entailed by it all", "x"]] * 3, 0) is None
