"""What a text's marks show: that it is tokenized, or raw; nothing if there are none."""

import pytest

from elmo.text.punctuation import punctuation_of
from elmo.text.tokenizer import tokenizer

auto, unicode = tokenizer("auto"), tokenizer("unicode")


@pytest.mark.parametrize(
    "text",
    [
        "He went to the bank (of the river).",
        'She said "no".',
        'Is it the "bank"?',
        "It rose by 5%.",
        "Don't stop",
        "Wait ... what?",
        "A title - with a dash",
        "«Non», dit-il.",
        "밥은 “먹었니”?",
        "a list of words",
        "",
    ],
)
def test_text_that_shows_nothing_of_tokens_is_read_by_rules(text):
    assert auto(text) == unicode(text)


@pytest.mark.parametrize(
    "text",
    [
        "@user I don't know .",
        "word(s) , he said .",
        "We 've 5$ left",
        "It do n't cost 5$",
        "-LRB- 5$ -RRB-",
        '" 5$ "',
        "lol :) , ok .",
        "The [MASK] was steep .",
    ],
)
def test_text_that_shows_its_tokens_is_read_at_its_spaces(text):
    assert auto(text) == text.split() != unicode(text)


def test_tokens_never_depend_on_other_texts():
    texts = ["Don't stop", "Do n't stop @home .", "Stop (now)."]
    assert [auto(text) for text in texts] == [["Do", "n't", "stop"], texts[1].split(), unicode(texts[2])]


def test_some_texts_are_tokenized_as_a_whole_if_nearly_all_show_it():
    tokenized, raw = ["It rained , he said ."] * 9, ["It rained, he said."]
    assert punctuation_of([*tokenized, *raw], unicode).is_tokenized
    assert not punctuation_of([*tokenized[:4], *raw], unicode).is_tokenized
    assert punctuation_of(raw, unicode).is_raw
    assert punctuation_of(["Well", *raw], unicode).example == "rained,"
    nothing = punctuation_of(["a list of words", "Mr. Smith"], unicode)
    assert not (nothing.is_raw or nothing.is_tokenized or nothing.example)
