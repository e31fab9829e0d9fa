"""Raw text -> sentences -> tokens."""

import lzma
import re
import sys
import time
import unicodedata
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import ConfigError
from elmo.text.reading.spans import INVISIBLE
from elmo.text.sentences import read_sentences
from elmo.text.tokenizer import combining_marks, sentence_spans, split_sentences, tokenizer

tokens = tokenizer("unicode")


def test_whitespace_changes_nothing_but_the_spaces():
    assert tokenizer("whitespace")("I don't\tknow ,  ok.") == ["I", "don't", "know", ",", "ok."]


def test_an_unknown_tokenizer_is_refused_by_name():
    with pytest.raises(ConfigError, match="there is no tokenizer 'moses'. It must be one of auto, whitespace, unicode"):
        tokenizer("moses")


def test_a_function_of_the_users_own_is_found_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "my_tokens.py").write_text("def letters(text):\n    return list(text)\n")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    assert tokenizer("my_tokens:letters")("ab") == ["a", "b"]
    assert sys.path == path
    for name, message in {
        "my_tokens:nothing": "'my_tokens:nothing' can't be loaded: .*nothing",
        "no_such_module:f": "can't be loaded: .*No module named 'no_such_module'",
        ":f": "can't be loaded",
    }.items():
        with pytest.raises(ConfigError, match=message):
            tokenizer(name)


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
        ("약 3.5%가 올라 5.2%, 즉", "약 3.5%가 올라 5.2% , 즉"),
        ("R&D를 정보/기술로 (經濟는) 국철・버스", "R&D를 정보/기술로 ( 經濟는 ) 국철・버스"),
        ("‘K팝’의 「책」을 『글』, “왜?”", "‘ K팝 ’ 의 「 책 」 을 『 글 』 , “ 왜 ? ”"),
        ("50% of A/B in Korean (안녕)", "50 % of A / B in Korean ( 안녕 )"),
        ("हिन्दी में लिखा है।", "हिन्दी में लिखा है ।"),
        ("你好，世界！ひらがな", "你 好 ， 世 界 ！ ひらがな"),
        ("👩‍👩‍👧👍🏽🇰🇷🇺🇸❤️", "👩‍👩‍👧 👍🏽 🇰🇷 🇺🇸 ❤️"),
        ("می‌خواهم", "می‌خواهم"),
        ("재밌어요^^ 최고!! ㅋㅋㅋ ㅠㅠ~ 10점만점에10점;", "재밌어요 ^^ 최고 ! ! ㅋㅋㅋ ㅠㅠ ~ 10점만점에10점 ;"),
        ("좋네요^_^ 2^10 ^", "좋네요 ^_^ 2 ^ 10 ^"),
        ("infor\u200bmation on 10\u200b000 학\u200b교", "infor\u200bmation on 10\u200b000 학\u200b교"),
        ("\u200bword\u200b, แม่น้ำ\u200bยาว\u2063 .", "word , แม่น้ำ ยาว ."),
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


def test_marks_of_the_direction_of_writing_are_left_out():
    assert tokens("\u202bשלום\u202c سلام\u061c \u2067(a)\u2069 b\u200f") == ["שלום", "سلام", "(", "a", ")", "b"]


@given(st.text(st.characters()))
def test_no_character_is_lost_or_changed(text):
    invisible = dict.fromkeys(map(ord, INVISIBLE))
    assert "".join(tokens(text)) == "".join(text.split()).translate(invisible)


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
        ("정말 좋아요!!최고다.그런데 왜?몰라", ["정말 좋아요!!", "최고다.", "그런데 왜?", "몰라"]),
        ('그는 "밥은 먹었니?" 하고 물었다. 갔다.', ['그는 "밥은 먹었니?" 하고 물었다.', "갔다."]),
        ('"안녕." 그녀가 말했다. 갔다.', ['"안녕." 그녀가 말했다.', "갔다."]),
        ("“왔니? 앉아.”라고 했다. 네.", ["“왔니? 앉아.”라고 했다.", "네."]),
        ("「가자!」 그가 외쳤다.", ["「가자!」 그가 외쳤다."]),
        ('그는 " 왔니 ? " 하고 물었다 . 네 .', ['그는 " 왔니 ? " 하고 물었다 .', "네 ."]),
        ('"가자." 그는 집을 나섰다.', ['"가자."', "그는 집을 나섰다."]),
        ('밥을 먹었다. "좋다." 비가 왔다.', ["밥을 먹었다.", '"좋다."', "비가 왔다."]),
        ("한.미 정상이 3.1절에 v2.0을 냈다", ["한.미 정상이 3.1절에 v2.0을 냈다"]),
        ("你好。世界！好", ["你好。", "世界！", "好"]),
        ("हिन्दी है। दूसरा।", ["हिन्दी है।", "दूसरा।"]),
        ("A line\nthat goes on.\n\nA title\n \nNext", ["A line that goes on.", "A title", "Next"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert split_sentences(text) == expected


def test_tokenized_korean_stays_as_it_is(shared):
    lines = (shared / "data" / "lm-ko" / "valid.txt").read_text(encoding="utf-8").splitlines()
    assert sum(tokens(line) == line.split() for line in lines) > 0.95 * len(lines)


def test_raw_english_becomes_the_words_of_a_treebank(shared):
    with lzma.open(shared / "data" / "pos" / "ud-en-ewt" / "dev.conllu.xz", "rt", encoding="utf-8") as file:
        texts = [line[len("# text = ") :].strip() for line in file if line.startswith("# text = ")]
    words = list(read_sentences(shared / "data" / "pos" / "ud-en-ewt" / "dev.conllu.xz"))
    found = [(_places(tokens(text)), _places(expected)) for text, expected in zip(texts, words, strict=True)]
    both = sum(len(ours & theirs) for ours, theirs in found)
    assert both > 0.96 * sum(len(ours) for ours, _ in found)
    assert both > 0.96 * sum(len(theirs) for _, theirs in found)


def _places(words):
    ends = list(accumulate(len(word.replace(" ", "")) for word in words))
    return set(zip([0, *ends], ends, strict=False))


@pytest.mark.parametrize("unit", ["'s", "a's", "a+", "Mr.", "a@", "-a."])
def test_a_word_of_a_hundred_thousand_characters_takes_no_time(unit):
    """Each of these took minutes as long as a part of the word was read again for every token in it."""
    text = unit * (100_000 // len(unit))
    assert "".join(tokenizer("unicode")(text)) == text


def test_a_mail_address_has_a_name_of_at_most_64_characters():
    assert tokenizer("unicode")("a" * 64 + "@x.org") == ["a" * 64 + "@x.org"]
    assert tokenizer("unicode")("a" * 65 + "@x.org") == ["a" * 65, "@", "x.org"]


def test_no_combining_mark_is_overlooked():
    marks = re.compile(f"[{combining_marks()}]")
    others = [
        code
        for code in range(0x300, sys.maxunicode)
        if unicodedata.category(chr(code)).startswith("M") != bool(marks.fullmatch(chr(code)))
    ]
    assert others == []


@pytest.mark.parametrize("unit", [".", "!", "...", '."', "a. ", "다.", "\n", "x@", "(", "* "])
def test_the_time_for_a_text_of_one_kind_does_not_grow_with_its_square(unit):
    """With the square of it, each would take hours."""
    text = unit * (1_000_000 // len(unit))
    begun = time.process_time()
    found = sentence_spans(text)
    assert not found or found[-1][1] == len(text.rstrip())
    assert time.process_time() - begun < 60
