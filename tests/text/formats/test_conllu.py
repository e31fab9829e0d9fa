"""CoNLL-U -> sentences."""

import pytest

from elmo.errors import TextError
from elmo.text.sentences import read_sentences


def row(number: str, form: str) -> str:
    return f"{number}\t{form}" + "\t_" * 8 + "\n"


VAMONOS = "# text = vámonos al mar\n" + row("1-2", "vámonos") + row("1", "vamos") + row("2", "nos")
VAMONOS += row("3-4", "al") + row("3", "a") + row("4", "el") + row("4.1", "elided") + row("5", "mar")


def read(folder, text: str, **settings) -> list[list[str]]:
    path = folder / "tree.conllu"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_sentences(path, **settings))


def test_multiword_tokens_are_their_words_and_empty_nodes_are_left_out(tmp_path):
    assert read(tmp_path, VAMONOS + "\n" + row("1", "Sí")) == [["vamos", "nos", "a", "el", "mar"], ["Sí"]]


def test_blank_lines_and_comments_make_no_sentences(tmp_path):
    text = "\n# newdoc\n\n\n" + row("1", "a") + "# in between\n" + row("2", "b") + "\n\n \n"
    assert read(tmp_path, text) == [["a", "b"]]
    assert read(tmp_path, "") == []


def test_a_file_may_name_its_columns_again(tmp_path):
    assert read(tmp_path, "# global.columns = ID FORM\n1\ta\n\n# global.columns = ID X FORM\n1\t_\tc\n") == [
        ["a"],
        ["c"],
    ]


def test_windows_line_ends_and_spaces_inside_words_are_kept_out_and_in(tmp_path):
    text = (row("1", "Việt Nam") + row("2", "_")).replace("\n", "\r\n")
    assert read(tmp_path, text) == [["Việt Nam", "_"]]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("2\tb\tc\n", "tree.conllu:3: has 3 columns between tabs, but the first row of its sentence has 10"),
        ("two words\n", "has one column"),
        (row("x", "b"), "its ID is 'x', but an ID is like 3, 3-4 or 3.1"),
        (row("3", "b"), "the ID 3 is where word 2 should be"),
        (row("1", "b"), "the ID 1 is where word 2 should be. Fix the numbers, or put a blank line"),
        (row("2", ""), "its FORM is '', which is empty"),
        (row("2", "\u3000b"), "which begins or ends with whitespace"),
        (row("٢", "b"), "its ID is '٢'"),
        (row("9" * 5000, "b"), "its ID is '9{56}..., but an ID is like"),
    ],
)
def test_ragged_columns_and_wrong_numbers_are_named_with_their_line(tmp_path, bad, message):
    text = "# one\n" + row("1", "a") + bad + "\n" + row("1", "good")
    with pytest.raises(TextError, match=message):
        read(tmp_path, text)
    told = []
    skipped = read(tmp_path, text, errors="skip", on_bad_line=lambda number, _: told.append(number))
    assert skipped == [[], ["good"]]
    assert told == [3]
    with pytest.raises(TextError, match="tree.conllu:1: has 2 columns, but CoNLL-U has 10 with a tab between them"):
        read(tmp_path, "1\ta\n")


def test_a_word_that_cannot_be_decoded_spoils_its_sentence_only(tmp_path):
    text = (row("1", "a") + row("2", "caf?") + row("3", "c") + "\n" + row("1", "good")).encode().replace(b"?", b"\xe9")
    with pytest.raises(TextError, match="tree.conllu:2: not valid UTF-8"):
        read(tmp_path, text)
    told = []
    skipped = read(tmp_path, text, errors="skip", on_bad_line=lambda number, _: told.append(number))
    assert (skipped, told) == ([[], ["good"]], [2])


def test_the_word_count_of_a_treebank_is_that_of_its_numbered_lines(shared):
    import lzma

    path = shared / "data" / "pos" / "ud-en-ewt" / "dev.conllu.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        expected = sum(line.split("\t")[0].isdecimal() for line in file)
    sentences = list(read_sentences(path))
    assert sum(map(len, sentences)) == expected
    assert all(sentences)
