"""Raw text -> sentences -> tokens."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import ConfigError
from elmo.text.tokenizer import split_sentences, tokenizer

tokens = tokenizer("unicode")


def test_whitespace_changes_nothing_but_the_spaces():
    assert tokenizer("whitespace")("I don't\tknow ,  ok.") == ["I", "don't", "know", ",", "ok."]


def test_an_unknown_tokenizer_is_refused_by_name():
    with pytest.raises(ConfigError, match="there is no tokenizer 'moses', only whitespace and unicode"):
        tokenizer("moses")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world!", "Hello , world !"),
        ('He said: "Go (now)."', 'He said : " Go ( now ) . "'),
        ("I don't, can't and couldn't've.", "I do n't , ca n't and could n't 've ."),
        ("We’re John's; IT'S", "We ’re John 's ; IT 'S"),
        ("O'Brien's l'homme rock'n'roll", "O'Brien 's l'homme rock'n'roll"),
        ("the dogs' bones 'quoted' '90s", "the dogs ' bones ' quoted ' '90s"),
        ("It cost $1,100.50 or 50% at 10:30 on 12/31/2004.", "It cost $ 1,100.50 or 50 % at 10:30 on 12/31/2004 ."),
        ("-5 (-3) 10-5 3.14 21st 3D", "-5 ( -3 ) 10-5 3.14 21st 3D"),
        (
            "Mr. Brown of the U.S. met J. K. Smith, e.g. at 5 a.m.",
            "Mr. Brown of the U.S. met J. K. Smith , e.g. at 5 a.m.",
        ),
        ("Smith Inc. and No. 5, but no.", "Smith Inc. and No. 5 , but no ."),
        ("So do I. Really", "So do I . Really"),
        ("state-of-the-art - well--yes — ok...", "state-of-the-art - well -- yes — ok ..."),
        (
            "See https://a.org/b?c=1, www.x.de/y. Mail a.b@c.org.",
            "See https://a.org/b?c=1 , www.x.de/y . Mail a.b@c.org .",
        ),
        ("snake_case analytics.usa.gov end.Start", "snake_case analytics.usa.gov end . Start"),
        ("밥을 먹었다.그리고 ELMo는 3월에 나왔다!!", "밥을 먹었다 . 그리고 ELMo는 3월에 나왔다 ! !"),
        ("'안녕'이라고 했다…", "' 안녕 ' 이라고 했다 …"),
        ("हिन्दी में लिखा है।", "हिन्दी में लिखा है ।"),
        ("你好，世界！ひらがな", "你 好 ， 世 界 ！ ひらがな"),
        ("👩‍👩‍👧👍🏽🇰🇷🇺🇸❤️", "👩‍👩‍👧 👍🏽 🇰🇷 🇺🇸 ❤️"),
        ("می‌خواهم", "می‌خواهم"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_marks_stand_apart_and_words_stay_whole(text, expected):
    assert tokens(text) == expected.split()


def test_what_is_tokenized_already_stays_as_it_is():
    text = "I do n't think Mr. Brown 's U.S. trip cost $ 1,100 -- or 'll , he 'd say , `` ever '' ."
    assert tokens(text)[:14] == text.split()[:14]
    assert tokens(" ".join(tokens("You'll say \"it's ok\", won't you?"))) == tokens(
        "You'll say \"it's ok\", won't you?"
    )


def test_decomposed_korean_and_accents_stay_in_one_word():
    text = unicodedata.normalize("NFD", "밥을 café")
    assert tokens(text) == text.split()


@given(st.text(st.characters()))
def test_no_character_is_lost_or_changed(text):
    invisible = dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2060\ufeff"))
    assert "".join(tokens(text)) == "".join(text.split()).translate(invisible)


@given(st.text(st.sampled_from("aZ9 .!?'\"()\n가。,")))
def test_sentences_keep_every_character(text):
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He went. She stayed! Why? Ok", ["He went.", "She stayed!", "Why?", "Ok"]),
        ('"Did he?" she asked. Yes.', ['"Did he?" she asked.', "Yes."]),
        ("He said (so it is.) Then left.", ["He said (so it is.)", "Then left."]),
        ("Mr. Brown met Dr. J. R. Smith. They talked.", ["Mr. Brown met Dr. J. R. Smith.", "They talked."]),
        ("He lives in the U.S. The U.S. Senate etc. is far.", ["He lives in the U.S.", "The U.S. Senate etc. is far."]),
        ("See Fig. 3 and No. 5 at 3.5 p.m. on Monday.", ["See Fig. 3 and No. 5 at 3.5 p.m. on Monday."]),
        ("Well... maybe. So do I. Bye.", ["Well... maybe.", "So do I.", "Bye."]),
        ("1. First item. 2. Second.", ["1. First item.", "2. Second."]),
        ("밥을 먹었다. 좋았다! 그래", ["밥을 먹었다.", "좋았다!", "그래"]),
        ("你好。世界！好", ["你好。", "世界！", "好"]),
        ("हिन्दी है। दूसरा।", ["हिन्दी है।", "दूसरा।"]),
        ("A line\nthat goes on.\n\nA title\n \nNext", ["A line that goes on.", "A title", "Next"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert split_sentences(text) == expected
