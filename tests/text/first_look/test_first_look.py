"""What a first look at a text finds: raw text, another language, and nothing in texts that are fine."""

import unicodedata

import pytest

from elmo.errors import TextError
from elmo.text.first_look.language import Language
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


def test_a_file_is_tokenized_if_its_first_lines_are():
    raw, tokenized = look_at(RAW, Reading()), look_at(TOKENIZED, Reading())
    assert raw.reading.tokenizer == "auto"
    assert "'\"We' is one word" in (raw.note or "")
    assert raw.warnings() == []
    assert tokenized.reading.tokenizer == "whitespace"
    assert tokenized.note is None
    # A word that only rules would take apart is a token of a tokenized file.
    odd = look_at([*TOKENIZED, "@user wrote word(s)"], Reading())
    assert odd.sentences[-1] == ["@user", "wrote", "word(s)"]
    silent = look_at(["a list of words", ""], Reading())
    assert (silent.note, silent.warnings()) == (None, [])


def test_whitespace_on_raw_text_is_warned_of():
    (warning,) = look_at(RAW, Reading(tokenizer="whitespace")).warnings()
    assert "is one word" in warning
    assert "the tokenizer auto or unicode" in warning
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
    why = Language(vocabulary(model)).why_foreign([(text * 3).split()])
    assert why is None if found is None else found in (why or "")


def test_the_warning_names_the_text_and_the_way_out():
    (warning,) = look_at([KOREAN], Reading(), "ko.txt").warnings(vocabulary("small-en"))
    assert warning.startswith("ko.txt is not in the model's language")
    assert "'elmo models' lists them" in warning
    (warning,) = look_at([ENGLISH], Reading()).warnings(vocabulary("small-ko"), "Train it again.")
    assert warning.endswith("Train it again.")


def test_files_are_looked_at_in_their_format(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"body": "In the rain, he slept."}\n', encoding="utf-8")
    look = first_look([tmp_path / "a.jsonl"], Reading(field="body"))
    assert look.sentences == [["In", "the", "rain", ",", "he", "slept", "."]]
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(TextError, match="is empty"):
        first_look([tmp_path / "empty.txt"], Reading())


def test_of_several_files_one_that_is_tokenized_does_not_speak_for_the_others(tmp_path):
    tokenized, raw, rows = tmp_path / "tokenized.txt", tmp_path / "raw.txt", tmp_path / "rows.conll"
    tokenized.write_text("\n".join(TOKENIZED * 300) + "\n", encoding="utf-8")
    raw.write_text("\n".join(RAW) + "\n", encoding="utf-8")
    rows.write_text("It\nrained\n\n", encoding="utf-8")
    for paths, expected in (
        ([tokenized], "whitespace"),
        ([tokenized, tokenized], "whitespace"),
        ([tokenized, rows], "whitespace"),
        ([tokenized, raw], "auto"),
        ([raw, tokenized], "auto"),
    ):
        assert first_look(paths, Reading()).reading.tokenizer == expected, paths


def test_lines_with_several_sentences_are_noted_in_raw_text_alone():
    text = ["It rained. We stayed.", "It ended.", ""]
    note = look_at(text, Reading(), "t.txt").note_on_sentences or ""
    assert note.startswith("1 of the first 3 lines of t.txt hold several sentences")
    assert look_at(text, Reading(sentences="within-lines")).note_on_sentences is None
    assert look_at(["It rained . We stayed ."], Reading()).note_on_sentences is None


def test_letters_that_are_taken_apart_are_warned_of():
    composed = "나는 어제 친구를 만났다 .\ncafé"
    look = look_at(unicodedata.normalize("NFD", composed).splitlines(), Reading(tokenizer="whitespace"), "text.txt")
    (warning,) = look.warnings(vocabulary("small-ko"))
    assert "has 5 words, such as '나는', that are not in Unicode's composed form (NFC)" in warning
    assert warning.endswith("It is read in NFC.")
    assert look_at(composed.splitlines(), Reading(tokenizer="whitespace")).warnings() == []
    (warning,) = look_at(["5 \u212b wide"], Reading(tokenizer="whitespace"), "text.txt").warnings()
    assert "1 words, such as '\u00c5', that are not in" in warning


@pytest.mark.parametrize("text", ["나는,갔다." * 900, "naïve,café" * 900, "=".join(["##piece", *["@@piece"] * 900])])
def test_a_warning_shows_the_beginning_of_a_long_word(text):
    warnings = look_at([unicodedata.normalize("NFD", text)], Reading(tokenizer="whitespace")).warnings()
    assert warnings and max(map(len, warnings)) < 400


def test_typographic_marks_are_told_where_the_model_has_plain_ones_only():
    text = ["She said “no” — and didn’t …", "“Yes.”"]
    (warning,) = look_at(text, Reading(), "t.txt").warnings(vocabulary("small-en"))
    assert '“ as ", ” as ", — as --, ’ as \', … as ...' in warning and "--no-plain-quotes" in warning
    assert look_at(text, Reading(plain_quotes=False)).warnings(vocabulary("small-en")) == []
    assert look_at(text, Reading()).warnings([*vocabulary("small-en"), "“", "”", "—", "n’t", "…"]) == []
    assert look_at(text, Reading()).warnings() == []


def test_special_tokens_of_other_models_are_pointed_out():
    (warning,) = look_at(["The [MASK] was <pad> steep . [PAD]"], Reading(), "t.txt").warnings(vocabulary("small-en"))
    assert warning.startswith("t.txt has [MASK], <pad>, [PAD], special tokens of other models")
    assert "beside it. Remove them; padding" in warning
    (warning,) = look_at(["the <unk> said N"], Reading()).warnings()
    assert "Write the word itself for <unk>, or <UNK> if it is lost" in warning
    assert look_at([["a", "</s>"]], Reading()).warnings()[0].startswith("the text has </s>,")
    assert look_at(["a <unk> b [1] [sic] <b>"], Reading()).warnings(["<unk>"]) == []


def look_at_fasta(folder, content: str):
    (folder / "p.fasta").write_text(content, encoding="utf-8")
    return first_look([folder / "p.fasta"], Reading())


def test_a_model_of_words_is_no_model_of_proteins(tmp_path):
    look = look_at_fasta(tmp_path, ">P1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILS\n")
    (warning,) = look.warnings(["the", "of", "and", "in"])
    assert "p.fasta has proteins, but the model has read words" in warning
    assert "such as seqvec" in warning
    assert look.warnings(["L", "A", "G"]) == look.warnings(None) == []


def test_dna_is_named_and_a_short_peptide_of_its_letters_is_not(tmp_path):
    (warning,) = look_at_fasta(tmp_path, ">P1\n" + "ACGTN" * 20 + "\n").warnings(None)
    assert "no letters but A C G N T: it looks like DNA or RNA" in warning
    assert look_at_fasta(tmp_path, ">P1\nACGTACGT\n").warnings(None) == []
