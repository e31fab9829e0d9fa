"""What a first look at a text finds: raw text, another language, and nothing in texts that are fine."""

import unicodedata

import pytest

from elmo.errors import TextError
from elmo.text.first_look.language import why_foreign
from elmo.text.first_look.punctuation import punctuation_of
from elmo.text.first_look.sample import first_look, look_at
from elmo.text.reading.settings import Reading
from elmo.weights.catalogue import bundled_folders

TOKENIZED = [
    "Mr. Smith did n't go to the U.S. , he said .",
    '" It rained , " she told Dr. Jones at 10:30 a.m. on Jan. 5 .',
    "See https://example.com/a,b for 3.5 % of it ; or 1,200 others .",
    "은행 에서 돈 을 찾았 다 .",
]
RAW = ['"We went out in the rain," she said.', "It cost $3.50!", "은행에서 돈을 찾았다.", "(London)."]


@pytest.mark.parametrize("text", TOKENIZED)
def test_tokenized_text_is_not_taken_for_raw(text):
    assert not punctuation_of([text]).is_raw


@pytest.mark.parametrize("text", RAW[:3])
def test_raw_text_is_known_by_its_punctuation(text):
    assert punctuation_of([text]).is_raw


def test_the_example_is_a_word_of_the_text():
    assert punctuation_of(RAW).example == 'rain,"'[:5]


def test_text_without_punctuation_says_nothing():
    assert not punctuation_of(["a list of words", "", "Mr. Smith"]).is_raw


def test_auto_takes_the_tokenizer_that_the_text_needs():
    raw, tokenized = look_at(RAW, Reading()), look_at(TOKENIZED, Reading())
    assert raw.reading.tokenizer == "unicode"
    assert "'rain,' is one word" in (raw.note or "")
    assert raw.warnings() == []
    assert tokenized.reading.tokenizer == "whitespace"
    assert tokenized.note is None
    assert look_at([["rain."]] * 5, Reading()).reading.tokenizer == "whitespace"


def test_whitespace_on_raw_text_is_warned_of():
    (warning,) = look_at(RAW, Reading(tokenizer="whitespace")).warnings()
    assert "'rain,' is one word" in warning
    assert "--tokenizer auto" in warning
    assert look_at(RAW, Reading(tokenizer="unicode")).warnings() == []


def vocabulary(name: str) -> list[str]:
    return (bundled_folders()[name] / "vocab.txt").read_text(encoding="utf-8").split("\n")


ENGLISH = "The old man said that he would go to the river and look for his boat when it was light . "
GERMAN = "Der alte Mann sagte , er werde an den Fluss gehen und nach seinem Boot sehen , wenn es hell sei . "
KOREAN = "그는 정말 재미있는 영화를 보고 집에 돌아와서 바로 잤다 . 그리고 아침에 일어났다 . "


@pytest.mark.parametrize(
    ("text", "model", "found"),
    [
        (ENGLISH, "small-en", None),
        (KOREAN, "small-ko", None),
        (KOREAN, "small-en", "100% of its letters are Hangul"),
        (ENGLISH, "small-ko", "100% of its letters are Latin"),
        (GERMAN, "small-en", "of its words are among"),
        ("Zug", "small-en", None),
        ("1 .", "small-ko", None),
    ],
)
def test_a_text_in_another_language_is_known(text, model, found):
    why = why_foreign([(text * 3).split()], vocabulary(model))
    assert why is None if found is None else found in (why or "")


def test_the_warning_names_the_text_and_the_way_out():
    (warning,) = look_at([KOREAN], Reading(), "ko.txt").warnings(vocabulary("small-en"))
    assert warning.startswith("ko.txt is not in the model's language")
    assert "--model" in warning


def test_files_are_looked_at_in_their_format(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "In the rain, he slept."}\n', encoding="utf-8")
    look = first_look([tmp_path / "a.jsonl"], Reading(field="body"))
    assert look.sentences == [["In", "the", "rain", ",", "he", "slept", "."]]
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(TextError, match="is empty"):
        first_look([tmp_path / "empty.txt"], Reading())


def test_lines_with_several_sentences_are_noted_in_raw_text_alone():
    text = ["It rained. We stayed.", "It ended.", ""]
    note = look_at(text, Reading(), "t.txt").note_on_sentences or ""
    assert note.startswith("1 of the first 3 lines of t.txt hold several sentences")
    assert look_at(text, Reading(sentences="within-lines")).note_on_sentences is None
    assert look_at(["It rained . We stayed ."], Reading()).note_on_sentences is None


def test_letters_that_are_taken_apart_are_warned_of():
    composed = "나는 어제 친구를 만났다 .\ncafé"
    look = look_at(unicodedata.normalize("NFD", composed).splitlines(), Reading(tokenizer="whitespace"), "text.txt")
    (warning,) = look.warnings()
    assert warning.startswith(
        "text.txt has 5 words with letters taken apart (Unicode NFD): '나는' is 5 characters there"
    )
    assert "2 in NFC" in warning and "unicodedata.normalize('NFC', text)" in warning
    assert look_at(composed.splitlines(), Reading(tokenizer="whitespace")).warnings() == []
