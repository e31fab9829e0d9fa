"""Sense-annotated corpora: what stands in them comes out, what doesn't fit is an error with its line."""

import lzma
import unicodedata

import pytest

from elmo.errors import TextError
from elmo_paper.analysis.senses.inventory import read_inventory
from elmo_paper.analysis.senses.raganato import read_keys, read_sentences


def test_words_with_blanks_are_several_tokens_of_one_instance(files):
    *_, last = read_sentences(files.train)
    assert last.tokens == ("a", "primary", "election", "was", "held")
    (instance,) = last.instances
    assert (instance.lemma, instance.pos, instance.start, instance.end) == ("primary_election", "NOUN", 1, 3)
    assert last.document == "d1"


def test_packed_corpora_and_entities_are_read(tmp_path):
    path = tmp_path / "x.data.xml.xz"
    text = '<corpus><text id="a"><sentence id="s"><wf lemma="&amp;" pos="X">&amp;</wf>\n</sentence></text></corpus>'
    path.write_bytes(lzma.compress(text.encode()))
    (sentence,) = read_sentences(path)
    assert (sentence.document, sentence.tokens, sentence.instances) == ("a", ("&",), ())


def test_letters_are_composed_as_in_all_texts(tmp_path):
    apart = unicodedata.normalize("NFD", "은행")
    one = f'<instance id="{apart}.1" lemma="{apart}" pos="NOUN">{apart}</instance>'
    (tmp_path / "x").write_text(f'<text id="a"><sentence id="s">{one}</sentence></text>', encoding="utf-8")
    (tmp_path / "keys").write_text(f"{apart}.1 {apart}-1\n", encoding="utf-8")
    header = "lemma\tpos\trank\tsense_key\tsemcor_count\n"
    (tmp_path / "senses").write_text(f"{header}{apart}\tNOUN\t1\t{apart}-1\t0\n", encoding="utf-8")
    (sentence,) = read_sentences(tmp_path / "x")
    assert (sentence.tokens, sentence.instances[0].lemma) == (("은행",), "은행")
    assert read_keys(tmp_path / "keys") == {sentence.instances[0].id: ("은행-1",)}
    assert read_inventory(tmp_path / "senses").first_sense(("은행", "NOUN")) == "은행-1"


def test_tags_of_many_lines_are_read_to_the_last(tmp_path):
    # expat 2.6 and newer hold back what follows such a tag.
    path = tmp_path / "x.data.xml"
    word = '<wf lemma="' + "a\n" * 50 + '" pos="X">a</wf>'
    path.write_text(f'<corpus><text id="a"><sentence id="s">{word * 3}</sentence></text></corpus>')
    (sentence,) = read_sentences(path)
    assert sentence.tokens == ("a", "a", "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<corpus><text>", "x.data.xml:1: <text> has no 'id'"),
        ("<corpus>\n<wf>a</wf>", "x.data.xml:2: <wf> is outside a sentence"),
        ('<corpus><text id="a">\n<sentence id="b">\n<wf> </wf>', "x.data.xml:3: an element has no word"),
        ('<corpus><text id="a"><sentence id="b"><instance id="c" pos="X">a</instance>', "<instance> has no 'lemma'"),
        (f'<corpus><text id="a"><sentence id="b"><wf>{"a " * 20_001}</wf>', "a sentence has more than 20,000 tokens"),
        ("<corpus>\n</text>", "x.data.xml:2: is not well-formed XML: mismatched tag"),
        ("", "x.data.xml:1: is not well-formed XML: no element found"),
        ('<!DOCTYPE a [<!ENTITY b "bbb">]>\n<a>&b;</a>', "declares an entity"),
    ],
)
def test_what_is_no_corpus_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "x.data.xml"
    path.write_text(text)
    with pytest.raises(TextError, match=message.replace("(", r"\(")):
        list(read_sentences(path))


def test_blank_lines_between_keys_say_nothing(tmp_path):
    (tmp_path / "x").write_bytes(b"a k1\r\n\r\nb k2 k3\n\n")
    assert read_keys(tmp_path / "x") == {"a": ("k1",), "b": ("k2", "k3")}


@pytest.mark.parametrize(
    ("text", "message"),
    [("a k1\nb\n", "x:2: has no sense for 'b'"), ("a k1\na k2\n", "x:2: 'a' has keys already")],
)
def test_a_line_of_keys_that_says_nothing_new_is_an_error(tmp_path, text, message):
    (tmp_path / "x").write_text(text)
    with pytest.raises(TextError, match=message):
        read_keys(tmp_path / "x")
