"""A token -> the ids of its characters. Expected rows are written out from the specification, 1.1 to 1.3."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.text.characters import CharacterMap

BEGIN, END, PADDING = 259, 260, 261
MAP = CharacterMap.for_bytes()


def row(content: list[int]) -> list[int]:
    return [BEGIN, *content, END] + [PADDING] * (48 - len(content))


@pytest.mark.parametrize(
    ("token", "content"),
    [
        ("", []),
        ("a", [98]),
        ("The", [85, 105, 102]),
        ("\x00", [1]),
        ("밥", [236, 177, 166]),  # the bytes 235, 176, 165
        ("\u0100", [197, 129]),  # the bytes 196, 128
        ("😀", [241, 160, 153, 129]),  # the bytes F0 9F 98 80
        ("\ud83d", []),  # a lone surrogate is dropped
        ("x\udc00y", [121, 122]),
        ("<S>", [257]),
        ("</S>", [258]),
        ("<s>", [61, 116, 63]),
        ("<UNK>", [61, 86, 79, 76, 63]),
        ("a" * 48, [98] * 48),  # leaves no padding
        *(("a" * 47 + "bc" + "d" * more, [98] * 47 + [99]) for more in (0, 11, 951)),
        ("a" + "\u00e9" * 40, [98, *[196, 170] * 23, 196]),  # a character may be cut in half
    ],
)
def test_worked_examples(token, content):
    assert MAP.ids([token]).tolist() == [row(content)]


def test_rows_are_of_the_asked_width_and_never_hold_zero():
    short = CharacterMap.for_bytes(5)
    assert short.ids(["abcdef", ""]).tolist() == [[259, 98, 99, 100, 260], [259, 260, 261, 261, 261]]
    assert MAP.ids([]).shape == (0, 50)


@given(st.lists(st.text(st.characters(), max_size=60)))
def test_every_row_opens_closes_and_pads(tokens):
    rows = MAP.ids(tokens)
    assert rows.shape == (len(tokens), 50)
    assert rows.dtype == np.int16
    for token, characters in zip(tokens, rows.tolist(), strict=True):
        content = [byte + 1 for byte in token.encode("utf-8", "ignore")[:48]]
        assert characters == row({"<S>": [257], "</S>": [258]}.get(token, content))


def test_only_tokens_over_48_bytes_count_as_cut():
    assert [MAP.is_cut(token) for token in ("a" * 48, "a" * 49, "밥" * 16, "밥" * 17, "")] == [0, 1, 0, 1, 0]


def test_golden_character_ids_are_equal(golden_folder):
    cases = sorted(golden_folder.glob("*/inputs.json"))
    assert cases
    for case in cases:
        expected = np.load(case.with_name("expected.npz"))
        for number, batch in enumerate(json.loads(case.read_text(encoding="utf-8"))["batches"]):
            wanted = expected[f"b{number}_char_ids"]
            for sentence, rows in zip(batch, wanted, strict=True):
                np.testing.assert_array_equal(MAP.ids(sentence), rows[: len(sentence)], err_msg=str(case))
                assert not rows[len(sentence) :].any()


MARKS = {"begin_sentence": 1, "end_sentence": 2, "begin_word": 3, "end_word": 4, "padding": 5, "unknown": 6}


def test_a_dictionary_counts_whole_characters():
    characters = CharacterMap.for_dictionary({"밥": 7, "a": 8}, MARKS, 5)
    assert characters.num_characters == 9
    assert characters.ids(["밥a?", "밥밥밥밥", "<S>"]).tolist() == [[3, 7, 8, 6, 4], [3, 7, 7, 7, 4], [3, 1, 4, 5, 5]]
    assert [characters.is_cut("밥밥밥"), characters.is_cut("밥밥밥밥")] == [False, True]


def test_a_dictionary_may_name_its_own_boundary_tokens():
    characters = CharacterMap.for_dictionary({"a": 7}, MARKS, 4, boundary_tokens=("<bos>", "<eos>"))
    assert characters.ids(["<bos>", "<eos>", "<S>"]).tolist() == [[3, 1, 4, 5], [3, 2, 4, 5], [3, 6, 6, 4]]


def test_a_large_dictionary_gets_wider_ids():
    characters = CharacterMap.for_dictionary({"a": 40_000}, MARKS, 4)
    assert characters.ids(["a"]).tolist() == [[3, 40_000, 4, 5]]
