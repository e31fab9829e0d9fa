"""Files with a tag for each token: CoNLL-U and other columns, read as the same tokens as by `embed`, and back."""

from dataclasses import replace

import pytest

from elmo.errors import ConfigError, TextError
from elmo.tasks.columns import TaggedSentence, column_as_written
from elmo.tasks.pos.data import TokenTaggerSettings, read_tagged, read_untagged_treebank, write_tagged
from elmo.tasks.task import TextReading
from elmo.text.sentences import read_sentences

TREEBANK = """\
# newdoc id = a
# text = I don't.
1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdo\tdo\tAUX\tVBP\tMood=Ind\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

# newdoc id = b
1\tRome\tRome\tPROPN\tNNP\t_\t0\troot\t_\t_

"""


def tagged_in(path, **settings):
    return read_tagged(path, TokenTaggerSettings(**settings))


@pytest.fixture
def written(tmp_path):
    def write(text, name="data.conllu"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("column", "tags"),
    [
        ("auto", [["PRON", "AUX", "PART"], ["PROPN"]]),
        ("upos", [["PRON", "AUX", "PART"], ["PROPN"]]),
        ("XPOS", [["PRP", "VBP", "RB"], ["NNP"]]),
        ("deprel", [["nsubj", "root", "advmod"], ["root"]]),
        ("feats", [["_", "Mood=Ind", "_"], ["_"]]),
        ("8", [["nsubj", "root", "advmod"], ["root"]]),
    ],
)
def test_a_column_of_a_treebank_has_a_name_or_a_number(written, column, tags):
    path = written(TREEBANK)
    found = tagged_in(path, tag_column=column)
    assert [it.tags for it in found] == tags
    assert [it.tokens for it in found] == list(read_sentences(path)) == [["I", "do", "n't"], ["Rome"]]
    assert [list(it.lines) for it in found] == [[3, 5, 6], [10]]
    assert len({it.document for it in found}) == 2


def test_the_name_of_the_file_decides_nothing(written):
    assert tagged_in(written(TREEBANK, "data.txt")) == [
        replace(it, source=it.source.replace("data.conllu", "data.txt")) for it in tagged_in(written(TREEBANK))
    ]


def test_conllu_plus_names_its_columns(written):
    path = written("# global.columns = ID FORM MY:TAG\n1\ta\tx\n2\tb\ty\n\n")
    assert tagged_in(path, tag_column="my:tag")[0].tags == ["x", "y"]
    with pytest.raises(ConfigError, match="tag_column is 'auto' .*but the columns are ID, FORM, MY:TAG"):
        tagged_in(path)


def test_predictions_are_the_treebank_with_other_tags(written):
    path = written(TREEBANK)
    found = tagged_in(path)
    assert "".join(f"{line}\n" for line in write_tagged((it, it.tags) for it in found)) == TREEBANK
    lines = list(write_tagged((it, ["X"] * len(it.tokens)) for it in found))
    again = tagged_in(written("".join(f"{line}\n" for line in lines), "again.conllu"))
    assert [it.tags for it in again] == [["X"] * 3, ["X"]]
    assert [line for line in lines if line.startswith(("#", "2-3", "3.1"))] == [
        line for line in TREEBANK.splitlines() if line.startswith(("#", "2-3", "3.1"))
    ]


def test_a_treebank_is_tagged_by_the_column_that_was_trained_on(written):
    settings = TokenTaggerSettings(token_column=3)
    found = list(read_untagged_treebank(written(TREEBANK), settings, TextReading()))
    assert [it.tokens for it in found] == [it.tokens for it in read_tagged(written(TREEBANK), settings)]
    assert found[0].tokens != ["I", "do", "n't"]


def test_a_treebank_without_tags_can_be_tagged(written):
    untagged = TREEBANK.replace("PRON", "_").replace("AUX", "_").replace("PART", "_").replace("PROPN", "_")
    path, looks = written(untagged), []
    found = list(read_untagged_treebank(path, TokenTaggerSettings(), TextReading(on_look=looks.append)))
    assert [it.tokens for it in found] == [["I", "do", "n't"], ["Rome"]]
    tags = [["PRON", "AUX", "PART"], ["PROPN"]]
    assert "".join(f"{line}\n" for line in write_tagged(zip(found, tags, strict=True))) == TREEBANK
    assert len(looks) == 1
    with pytest.raises(TextError, match=r"data.conllu:3: the word 'I' has no UPOS \('_'\)"):
        tagged_in(path)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("a X\nb Y\n\nc X\n", {}),
        ("a\tX\r\nb\tY\r\n\r\nc\tX\r\n", {}),
        ("1 a X\n2 b Y\n\n1 c X\n", {"token_column": 2, "tag_column": "3"}),
        ("X a\nY b\n\nX c\n", {"token_column": 2, "tag_column": "1"}),
        ("X a\nY b\n\nX c\n", {"token_column": 2}),
        ("a p X\nb q Y\n\nc p X\n", {"tag_column": "3"}),
        ("a p X\nb q Y\n\nc p X\n", {"tag_column": "0"}),
        ("# id = 1\na X\nb Y\n\n# id = 2\nc X\n", {}),
    ],
)
def test_columns_of_many_kinds_are_the_same_sentences(written, text, flags):
    found = tagged_in(written(text, "data.txt"), **flags)
    assert [(it.tokens, it.tags) for it in found] == [(["a", "b"], ["X", "Y"]), (["c"], ["X"])]
    lines = list(write_tagged((it, ["Z"] * len(it.tokens)) for it in found))
    column = column_as_written(flags.get("token_column", 1), 1 if text.startswith("X") else 3)
    again = tagged_in(written("\n".join(lines) + "\n", "again.txt"), token_column=column, tag_column="0")
    assert [(it.tokens, it.tags) for it in again] == [(["a", "b"], ["Z", "Z"]), (["c"], ["Z"])]


def test_documents_are_numbered_only_if_there_are_several(written):
    assert [it.document for it in tagged_in(written("-DOCSTART- O\n\na X\n\nb Y\n", "x"))] == [None, None]
    assert [it.document for it in tagged_in(written("-DOCSTART- O\n\na X\n\n-DOCSTART- O\n\nb Y\n", "x"))] == [1, 2]


@pytest.mark.parametrize(
    ("text", "flags", "error", "message"),
    [
        ("a\nb\n", {}, TextError, ":1: has one column, but each line must have a token and its tag"),
        ("a b c\nd e f\n", {}, TextError, "has 3 columns, so several could have the tags. Say"),
        ("a X\nb\n", {}, TextError, ":2: has one column"),
        ("a X\n", {"tag_column": "upos"}, ConfigError, "only a CoNLL-U file"),
        ("a X\n", {"tag_column": "3"}, ConfigError, ":1: the file has 2 columns, .* and the tags from column 3"),
        ("a X\n", {"tag_column": "1"}, ConfigError, "tokens would be read from column 1 and the tags from column 1"),
        (TREEBANK, {"tag_column": "form"}, ConfigError, "tag_column is 'form' and .*of which ID and FORM have no tags"),
        (TREEBANK, {"tag_column": "1"}, ConfigError, "tag_column is '1' and .*of which ID and FORM have no tags"),
        (TREEBANK, {"tag_column": "11"}, ConfigError, "tag_column is '11' and .*the columns are ID, FORM"),
        (TREEBANK, {"tag_column": "pos"}, ConfigError, "the columns are ID, FORM, LEMMA, UPOS"),
        (TREEBANK.replace("\n\n# newdoc id = b", ""), {}, TextError, ":8: the ID 1 is where word 4 should be"),
        (
            TREEBANK.replace("\tRB\t", "\t"),
            {},
            TextError,
            ":6: has 9 columns between tabs, but the first row of its sentence has 10",
        ),
    ],
)
def test_what_cant_be_meant_is_refused(written, text, flags, error, message):
    path = written(text, "data.txt")
    with pytest.raises(error, match=message) as caught:
        tagged_in(path, **flags)
    assert "--format" not in str(caught.value)  # which `elmo task train` doesn't have


def test_text_has_a_line_for_each_token_and_blank_lines_stay():
    pairs = [(TaggedSentence(["a", "b"]), ["X", "Y"]), (TaggedSentence([]), []), (TaggedSentence(["c"]), ["X"])]
    assert list(write_tagged(pairs)) == ["a\tX", "b\tY", "", "", "c\tX", ""]
