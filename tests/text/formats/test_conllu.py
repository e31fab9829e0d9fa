"""CoNLL-U -> sentences."""

import pytest

from elmo.errors import TextError
from elmo.text.formats.conllu import treebank_sentences
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


def test_files_that_were_joined_without_a_blank_line_lose_no_sentence(tmp_path):
    begin = "# global.columns = ID FORM\n"
    assert read(tmp_path, f"{begin}1\ta\n2\tb\n{begin}1\tc\n") == [["a", "b"], ["c"]]
    with pytest.raises(TextError, match=r":3: the sentence ends after word 0, but a multiword token goes on to word 2"):
        read(tmp_path, f"{begin}1-2\tab\n{begin}1\tc\n")


def test_windows_line_ends_and_spaces_inside_words_are_kept_out_and_in(tmp_path):
    text = (row("1", "Việt Nam") + row("2", "_")).replace("\n", "\r\n")
    assert read(tmp_path, text) == [["Việt Nam", "_"]]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("2\tb\tc\n", "tree.conllu:3: has 3 columns, but CoNLL-U has 10"),
        ("two words\n", "has 1 columns"),
        (row("2", "b").replace("\n", "\t_\n"), "has 11 columns"),
        (row("x", "b"), "column 1 is 'x', but an ID is like 3, 3-4 or 3.1"),
        (row("3", "b"), "the ID 3 is where word 2 should be"),
        (row("1", "b"), "the ID 1 is where word 2 should be. Fix the numbers, or put a blank line"),
        (row("2-1", "b"), "the multiword token 2-1 covers no new words"),
        (
            row("2-3", "b") + row("2", "b") + row("3-4", "c"),
            "tree.conllu:5: the multiword token 3-4 covers no new words",
        ),
        (row("2", ""), r"column 2 \(FORM\) is '', which is empty"),
        (row("2", " b"), "is ' b', which begins or ends with whitespace"),
        (row("٢", "b"), "column 1 is '٢'"),
    ],
)
def test_ragged_columns_and_wrong_numbers_are_named_with_their_line(tmp_path, bad, message):
    text = "# one\n" + row("1", "a") + bad + "\n" + row("1", "good")
    with pytest.raises(TextError, match=message):
        read(tmp_path, text)
    told = []
    skipped = read(tmp_path, text, errors="skip", on_bad_line=lambda number, _: told.append(number))
    assert skipped == [[], ["good"]]
    assert told == [5 if "3-4" in bad else 3]


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


def word(number: object, form: str = "a") -> str:
    return "\t".join([str(number), form, *"________"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([word("9" * 5000)], "column 1 is '9{56}..., but an ID is like"),
        ([word("1-" + "9" * 5000)], "column 1 is '1-9{54}..., but"),
        ([word("1-99999"), word(1)], "ends after word 1, but a multiword token goes on to word 99999"),
        ([word("1-99999")], "ends after word 0"),
    ],
)
@pytest.mark.parametrize("end", [[], ["", word(1, "next")]])
def test_ids_that_make_no_sense_are_named(rows, message, end):
    with pytest.raises(TextError, match=f"x.conllu:.*{message}"):
        list(treebank_sentences([*rows, *end], "x.conllu", None))
    listed = []
    found = treebank_sentences([*rows, *end], "x.conllu", lambda number, text: listed.append(number))
    assert [sentence.tokens for sentence in found] == ([[], ["next"]] if end else [[]])
    assert len(listed) == 1
