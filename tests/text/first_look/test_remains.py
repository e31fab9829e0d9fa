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
