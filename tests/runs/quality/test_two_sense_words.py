"""The list of two-sense words and what is counted over it."""

from collections import Counter

import numpy as np
import pytest

from elmo.errors import TextError


@pytest.mark.parametrize("name", ["two_sense_words.tsv", "two_sense_words_ko.tsv"])
def test_a_list_has_twenty_words_of_two_senses_in_four_sentences_each(script, name):
    occurrences = script.read_list(script.LIST.with_name(name))
    by_sense = Counter((one.word, one.sense) for one in occurrences)
    assert set(by_sense.values()) == {4}
    assert len(by_sense) == 40
    assert set(Counter(word for word, _ in by_sense).values()) == {2}
    assert len({" ".join(one.tokens) for one in occurrences}) == len(occurrences) == 160


def test_the_form_of_a_korean_word_says_nothing_of_its_sense(script):
    occurrences = script.read_list(script.LIST.with_name("two_sense_words_ko.tsv"))
    forms = Counter((one.word, one.sense, one.tokens[one.place]) for one in occurrences)
    assert set(forms.values()) == {2}
    assert len(forms) == 80 and len({(word, form) for word, _, form in forms}) == 40


def test_a_hit_is_a_nearest_occurrence_of_the_same_word_in_the_same_sense(script):
    rows = [("bank", "money"), ("bank", "money"), ("bank", "river"), ("bank", "river"), ("bat", "animal")]
    occurrences = [script.Occurrence(word, sense, [word], 0) for word, sense in rows]
    vectors = np.array([[1.0, 0.0], [2.0, 0.2], [0.0, 1.0], [1.0, 0.3], [0.0, 1.0]])
    # The fourth lies at the second, and the third at the fourth, though another word's lies where it does.
    assert script.hits(vectors, occurrences).tolist()[:4] == [True, True, True, False]


@pytest.mark.parametrize(
    "row", ["bank\tmoney", "bank\tmoney\tno such word", "bank\tmoney\tbank to bank", "쓰다\twrite\t[쓰고] 또 [쓴다]"]
)
def test_a_row_without_its_word_once_is_named(script, tmp_path, row):
    (tmp_path / "list.tsv").write_text(f"word\tsense\tsentence\n{row}\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"list\.tsv:2: no word, sense and sentence"):
        script.read_list(tmp_path / "list.tsv")


def test_the_bundled_model_is_measured_by_layer(script, capsys):
    assert script.main(["--model", "small-en"]) == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header.split("|")[1:4] == [" model ", " layer 1 ", " layer 2 "]
    assert all(40 < float(cell) < 100 for cell in row.split("|")[2:4])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b"bank\tmoney\tthe bank\nbank\triver\ta bank\nbat\tanimal\ta bat\n", "'bat' occurs once"),
        (b"", "there is no row under the header line"),
        (b"bank\tmoney\tcaf\xe9 bank\n", r"not valid UTF-8 \(byte 34\)"),
    ],
)
def test_a_list_that_compares_nothing_is_refused(script, tmp_path, rows, message):
    (tmp_path / "list.tsv").write_bytes(b"word\tsense\tsentence\n" + rows)
    with pytest.raises(TextError, match=message):
        script.read_list(tmp_path / "list.tsv")
