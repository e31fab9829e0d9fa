"""What other programs have left in a text is pointed out, and what only looks like it isn't."""

import pytest

from elmo.text.first_look.sample import look_at
from elmo.text.reading.settings import Reading


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A good film.<br /><br />Rain fell.", "tags of HTML ('<br />'"),
        ("He <em>left</em> it.", "tags of HTML ('<em>'"),
        ("Rain &amp; snow fell.", "entities of HTML ('&amp;'"),
        ("It&#39;s late.", "entities of HTML ('&#39;'"),
        ("\u2581Rain \u2581fe ll .", "pieces of a subword tokenizer ('\u2581Rain'"),
        ("rain ##y day", "pieces of a subword tokenizer ('##y'"),
        ("Ra@@ in fell .", "pieces of a subword tokenizer ('a@@'"),
        ("The <e1>rain</e1> fell.", "marks of entities ('<e1>'"),
        ("See [it](https://a.b).", "links of Markdown"),
        ("[[Rome|The city]] is old.", "markup of a wiki ('[[Rome|The city]]'"),
        ("Rome.{{cite web}}", "markup of a wiki"),
        ("*** START OF THIS PROJECT GUTENBERG EBOOK RAIN ***", "the license of Project Gutenberg"),
        ("It\u2019s".encode().decode("cp1252"), "letters decoded wrongly"),
        ("caf\u00e9 or \ube44".encode().decode("latin-1"), "letters decoded wrongly"),
    ],
)
def test_remains_are_pointed_out_with_an_example_and_the_step(text, what):
    for given in (text, text.split()):
        (warning,) = look_at([given], Reading(plain_quotes=False), "t.txt").warnings()
        assert warning.startswith("t.txt has ")
        assert what in warning
        assert "Clean the text first." in warning


@pytest.mark.parametrize(
    "text",
    ["a < b and c > d , <b> is a variable ; AT&T and R&D;", "SÃO PAULO, IRMÃ e MÃE", "a@b.c or @@ , C## and ## 3 , â"],
)
def test_ordinary_text_has_no_remains(text):
    assert look_at([text], Reading()).warnings() == []


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (["나/NP + 는/JX 밥/NNG + 을/JKO 먹/VV + 다/EF"], "is read as text, but 43% of its tokens are neither words"),
        (["Thousands", "of", "demonstrators", "marched"] * 5, "has one word in each line or row"),
        ([["rain"] * 1000], "has sentences of 1,000 tokens and more"),
    ],
)
def test_rows_of_another_form_are_pointed_out(rows, what):
    (warning,) = look_at(rows, Reading(), "t.csv").warnings()
    assert f"t.csv {what}" in warning


def test_words_of_columns_and_chinese_lines_without_spaces_are_not_called_lone_words():
    assert look_at([["Rain"], ["fell"]] * 20, Reading()).warnings() == []
    assert look_at(["我没有心"] * 20, Reading()).warnings() == []
