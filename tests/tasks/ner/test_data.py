"""CoNLL columns: any number of them; what is wrong is told with file and line."""

import pytest

from elmo.errors import TextError, TextWarning
from elmo.tasks.columns import TaggedSentence, write_columns
from elmo.tasks.ner.data import TaggerSettings, read_columns
from elmo.tasks.ner.task import TASK

CONLL = """-DOCSTART- -X- -X- O

Anna NNP B-NP B-PER
Bell NNP I-NP I-PER
ran VBD B-VP O


Rome NNP B-NP B-LOC
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text: str, **settings: object) -> list[TaggedSentence]:
        path = tmp_path / "train.conll"
        path.write_text(text, encoding="utf-8")
        return read_columns(path, TaggerSettings(**settings))

    return read_text


def test_sentences_have_tokens_entities_columns_and_lines(read, tmp_path):
    first, second = read(CONLL)
    assert first.tokens == ["Anna", "Bell", "ran"]
    assert first.spans == [(0, 2, "PER")]
    assert first.rows[2] == ["ran", "VBD", "B-VP"]
    assert first.tags == ["B-PER", "I-PER", "O"]
    assert list(first.lines) == [3, 4, 5]
    assert (second.tokens, second.spans, list(second.lines)) == (["Rome"], [(0, 1, "LOC")], [8])
    assert second.source == str(tmp_path / "train.conll")


def test_sentences_of_a_document_are_a_group_where_a_file_has_several(read):
    (one,) = [TASK.group(sentence, place) for place, sentence in enumerate(read("Anna B-PER\n\n"))]
    assert one == 0
    assert [sentence.document for sentence in read(CONLL)] == [None, None]
    found = read(CONLL + "\n-DOCSTART- -X- -X- O\n\nOslo NNP B-NP B-LOC\n")
    assert [sentence.document for sentence in found] == [1, 1, 2]
    groups = [TASK.group(sentence, place) for place, sentence in enumerate(found)]
    assert groups[0] == groups[1] != groups[2]


def test_a_column_that_counts_the_tokens_is_told(read):
    with pytest.raises(TextError, match="column 1 has 1, 2, .*--token-column N"):
        read("1\tAnna\tPER_B\n2\tsang\t-\n")


def test_a_hash_among_columns_is_a_token_and_tabs_keep_spaces(read):
    assert read("# B-X\na O\n")[0].tokens == ["#", "a"]
    assert read("New York\tB-X\n")[0].tokens == ["New York"]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a O\nb x O\n", 2, "has 3 columns"),
        ("a\tO\nb O\n", 2, "has one column between tabs, but the first row of its sentence has 2 between tabs"),
        ("a O\nb B\n", 2, "the tag is 'B'"),
        ("a B-A\nb I-B\n", 2, "'I-B' comes after 'B-A'"),
        ("a U-A\nb B-A\n\nc O\n", 2, "the sentence ends after 'B-A', which is not a sequence of BIOUL"),
        ("a U-A\nb I-A\n", 2, "'I-A' comes after 'U-A'"),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_next_step(read, tmp_path, text, line, what):
    with pytest.raises(TextError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'train.conll'}:{line}: ")
    assert what in message
    assert "Fix" in message


PUBLISHED = {
    "KLUE": ("## a-1\t<Anna:PS> 왔다\n안\tB-PS\n나\tI-PS\n \tO\n왔\tO\n다\tO\n", {}, [(0, 2, "PS")]),
    "Naver": ("1\tAnna\tPER_B\n2\tBell\tPER_I\n3\tsang\t-\n", {"token_column": 2}, [(0, 2, "PER")]),
    "GermEval, outer": (
        "#\thttp://a.example [2009]\n1\tAnna\tB-PER\tO\n2\tBern\tI-PER\tB-PER\n3\tsang\tO\tO\n",
        {"token_column": 2, "tag_column": 3},
        [(0, 2, "PER")],
    ),
    "GermEval, inner": (
        "#\thttp://a.example [2009]\n1\tAnna\tB-PER\tO\n2\tBern\tI-PER\tB-PER\n3\tsang\tO\tO\n",
        {"token_column": 2, "tag_column": 4},
        [(1, 2, "PER")],
    ),
    "carriage returns": ("Anna\tB-PER\r\nran\tO\r\n", {}, [(0, 1, "PER")]),
    "a comment": ("# id = 1\n1\tAnna\tB-PER\tx\n", {"token_column": 2, "tag_column": 3}, [(0, 1, "PER")]),
    "six columns": ("Anna _ _ _ _ I-PER\nran _ _ _ _ O\n", {}, [(0, 1, "PER")]),
    "BMES": ("A B-NAME\nB M-NAME\nC E-NAME\nD S-NAME\nE O\n", {}, [(0, 3, "NAME"), (3, 4, "NAME")]),
    "BMEWO": ("A B-NAME\nB M-NAME\nC E-NAME\nD W-NAME\nE O\n", {}, [(0, 3, "NAME"), (3, 4, "NAME")]),
    "IO": ("Anna person-other\nBell person-other\nsang O\nhere O\n", {}, [(0, 2, "person-other")]),
    "tags first": ("B-PER Anna\nI-PER Bell\nO sang\n", {"token_column": 2, "tag_column": 1}, [(0, 2, "PER")]),
    "underscores": ("Anna B_PER\nBell I_PER\nsang O\n", {}, [(0, 2, "PER")]),
    "suffixes": ("Anna PER-B\nBell PER-I\nsang O\n", {}, [(0, 2, "PER")]),
    "CoNLL-2003": ("Anna NNP I-NP I-PER\nBell NNP I-NP I-PER\nsang VBD I-VP O\n", {}, [(0, 2, "PER")]),
}


@pytest.mark.parametrize("published", PUBLISHED.values(), ids=PUBLISHED)
def test_files_are_read_as_they_are_published(read, published):
    text, settings, spans = published
    (sentence,) = read(text, **settings)
    assert sentence.spans == spans
    assert set(sentence.tags) <= {"O", *(f"{prefix}-{label}" for prefix in "BIELUS" for _, _, label in spans)}


def test_parts_of_speech_are_no_entities(read):
    with pytest.raises(TextError, match=r":1: the tag is 'NNP'.*--scheme io"):
        read("Anna NNP\nsang VBD\n! O\n")
    assert read("Anna NNP\nsang VBD\n! O\n", scheme="io")[0].spans == [(0, 1, "NNP"), (1, 2, "VBD")]


def test_a_file_of_which_every_sentence_is_left_out_is_an_error(read):
    with pytest.warns(TextWarning, match="1 in all"), pytest.raises(TextError, match="there is no sentence"):
        read("e X-A\n", errors="skip")


def test_a_named_scheme_is_asked_for_and_any_takes_all(read):
    text = "a I-A\nb B-A\n"
    assert read(text)[0].spans == read(text, scheme="iob1")[0].spans == [(0, 1, "A"), (1, 2, "A")]
    with pytest.raises(TextError, match=":1: 'I-A' comes after 'O', which is not a sequence of IOB2. Fix"):
        read(text, scheme="iob2")
    assert read("a U-A\nb I-A\n", scheme="any")[0].spans == [(0, 1, "A"), (1, 2, "A")]


@pytest.mark.parametrize("text", ["", "\n\n", "-DOCSTART- O\n\n"])
def test_a_file_without_a_sentence_is_an_error(read, text):
    with pytest.raises(TextError, match="there is no sentence in it"):
        read(text)


def test_predictions_are_the_columns_with_one_more(read):
    lines = list(write_columns(zip(read(CONLL), [["B-PER", "O", "O"], ["B-ORG"]], strict=True)))
    assert lines == [
        "Anna NNP B-NP B-PER B-PER",
        "Bell NNP I-NP I-PER O",
        "ran VBD B-VP O O",
        "",
        "Rome NNP B-NP B-LOC B-ORG",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Anna\tB-PER\n\nNew York\tB-LOC\n", "LOC"),  # the second of two sentences has a space
        ("안\tB-PS\n\n왔\tO\n \tO\n", "PS"),  # KLUE's tokens are characters
        ("Anna\t\tB-PER\n\nRome\tNNP\tO\n", "LOC"),  # a cell is empty
        ("Anna\tB-PER\n\nRome\tO\n", "big city"),  # only in what is predicted
    ],
)
def test_all_sentences_of_a_file_are_written_with_one_separator(read, tmp_path, text, label):
    gold = read(text)
    spans = [[], [(0, 1, label)]]
    lines = list(TASK.write(zip(gold, spans, strict=True)))
    num_tabs = text.partition("\n")[0].count("\t") + 1
    assert all(line.count("\t") == num_tabs for line in lines if line)
    (tmp_path / "predicted").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_columns(tmp_path / "predicted", TaggerSettings(scheme="any"))
    assert [(one.tokens, one.spans) for one in found] == [
        (one.tokens, own) for one, own in zip(gold, spans, strict=True)
    ]


@pytest.mark.parametrize(
    "name", ["gum-derived/dev.conll", "btc/dev.conll", "wnut17/dev.conll", "uner-en-ewt/dev.conll"]
)
def test_the_open_data_are_read(shared, name):
    sentences = read_columns(shared / "data" / "ner" / name, TaggerSettings())
    assert len(sentences) == {"gum": 1575, "btc": 1001, "wnu": 1009, "une": 2001}[name[:3]]
