"""FASTA -> the letters of each protein, with its id; what breaks a rule is named with its line."""

import gzip

import pytest

from elmo.errors import TextError
from elmo.text.formats.fasta import dataset_name
from elmo.text.reading.placed import placed_sentences
from elmo.text.reading.settings import Reading
from elmo.text.sentences import read_sentences, rows_and_form

RULES = b"""; made by hand
>sp|P1|ANNA  Some protein, OS=Homo sapiens
MKTAY IAKQR\r
QISFV\tKSHFS

>P2/B
ggsll-fU*

>\xeb\x8b\xa8\xeb\xb0\xb1\xec\xa7\x881 a Korean id
;a comment
BZJOX
"""


def records(folder, content: bytes | str, name="p.fasta", **settings):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    places = placed_sentences([path], Reading(**settings))
    return [(place.id, "".join(place.tokens), place.line) for place in places]


def test_ids_letters_and_lines_are_read_by_the_stated_rules(tmp_path):
    expected = [("sp|P1|ANNA", "MKTAYIAKQRQISFVKSHFS", 2), ("P2/B", "GGSLLFU", 6), ("단백질1", "BZJOX", 9)]
    assert records(tmp_path, RULES) == expected
    assert records(tmp_path, b"\xef\xbb\xbf" + RULES.split(b"\n", 1)[1])[0] == ("sp|P1|ANNA", expected[0][1], 1)
    assert records(tmp_path, gzip.compress(RULES), "p.faa.gz") == expected
    assert list(rows_and_form(tmp_path / "p.fasta")[1])[0] == (1, list("MKTAYIAKQRQISFVKSHFS"))


@pytest.mark.parametrize("name", ["p.fa", "p.txt", "p.pep.gz"])
def test_a_file_of_another_name_is_known_by_its_first_lines(tmp_path, name):
    content = b">P1 one\nMKTAYIAKQR\n>P2\nGGSLLF\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(read_sentences(path)) == [list("MKTAYIAKQR"), list("GGSLLF")]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("p.txt", "> P1\nMKTAYIAKQR\n", [list("MKTAYIAKQR")]),
        ("p.txt", ">**Note** he\n>>left\n", [[">**Note**", "he"], [">>left"]]),
        ("p.txt", "> he said\nThanks\n", [[">", "he", "said"], ["Thanks"]]),
        ("p.txt", ">P1\nMKT\n>P2\nMKTAYIAKQR\n", [list("MKT"), list("MKTAYIAKQR")]),
        ("p.txt", ">P1 x\n MKTAYIAKQR QISFV\n", [list("MKTAYIAKQRQISFV")]),
        ("train.fa", "این یک متن است .\n", [["این", "یک", "متن", "است", "."]]),
    ],
)
def test_proteins_are_told_from_quotations_and_persian_text(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert list(read_sentences(tmp_path / name)) == expected


@pytest.mark.parametrize(
    "content",
    [
        ">Yes\n>And you?\nno\n",
        ">Why?\nI don't know.\n",
        ">P1\n   1 MKTAYIAKQR QISFV\n",
        ">P1\nMKTAYIAK[acetyl]QRQ\n",
        "#10\t1\n>P1\nMKTAYIAKQRlg--R\n",  # A3M with its line of counts
        "Made by a program\n>P1 x\n;comment\nGGHVNPAVTFGAFVGGNITL\n",
    ],
)
def test_a_first_line_of_a_mark_and_a_word_is_a_header_whatever_comes_below(tmp_path, content):
    (tmp_path / "p.txt").write_text(content, encoding="utf-8")
    with pytest.raises(TextError, match=r"p\.txt:\d: .* use --errors skip .*Text: --format text\."):
        list(read_sentences(tmp_path / "p.txt"))
    lines = read_sentences(tmp_path / "p.txt", format="text")
    assert [" ".join(it) for it in lines] == [" ".join(it.split()) for it in content.splitlines()]


@pytest.mark.parametrize("gap", "-.~_")
def test_signs_of_gaps_are_left_out(tmp_path, gap):
    assert records(tmp_path, f">P1\n{gap * 3}MK{gap}T{gap}\n", "p.txt") == [("P1", "MKT", 1)]


def test_spans_count_the_residues_that_are_read(tmp_path):
    (tmp_path / "p.fasta").write_text(">P\n--mk\nt*\n")
    (place,) = placed_sentences([tmp_path / "p.fasta"], Reading())
    assert (place.text, place.spans.tolist()) == ("MKT", [[0, 1], [1, 2], [2, 3]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("MKT\n>P1\nMKT\n", r"p\.fasta:1: there are letters before the first header"),
        (">P1\nMKT\n>\nGGS\n", r"p\.fasta:3: the header has no id"),
        (">P1\nMKT\n> \nGGS\n", r"p\.fasta:3: the header has no id"),
        (">P1\n>P2\nGGS\n", r"p\.fasta:1: the protein 'P1' has no letters"),
        (">P1\nMKT\n>P2\n-*\n", r"p\.fasta:3: the protein 'P2' has no letters"),
        (">a/b\nMKT\n>P1\nM\n>a_b x\nGGS\n", r"p\.fasta:5: the id 'a_b' is that of line 1 too"),
        (">P1\nMKT\n\nGGS\n", r"p\.fasta:4: .*after a blank line, 3"),
        (">P1\nMKT*\nGGS\n", r"p\.fasta:3: .*after the stop '\*'"),
        (">P1\nMK\nMK*GGS\n", r"p\.fasta:3: .*after the stop '\*'"),
        (">P1\n1 MKTAY\n", r"p\.fasta:2: '1' is not a letter"),
        (">P1\nMKТ\n", r"p\.fasta:2: 'Т' is not a letter"),  # a Cyrillic one
        (">P1;CRAB\nA title.\nMKT*\n", r"p\.fasta:1: 'P1;CRAB' begins a record of PIR"),
        (">.\nMKT\n", r"p\.fasta:1: '\.' can't be an id"),
    ],
)
def test_what_breaks_a_rule_is_named_with_its_line_and_can_be_skipped(tmp_path, content, message):
    with pytest.raises(TextError, match=message):
        records(tmp_path, content)
    found = records(tmp_path, content + ">last\nMMM\n", errors="skip")
    assert found[-1][:2] == ("last", "MMM")
    assert len(found) == content.count(">") + (not content.startswith(">"))  # one is left out


def test_letters_behind_a_line_that_cannot_be_decoded_are_nobodys(tmp_path):
    """It may have been a header."""
    listed: list[int] = []
    path = tmp_path / "p.fasta"
    path.write_bytes(b">P1\nMKT\n>\xff\nGGS\n>P3\nAAA\n")
    with pytest.raises(TextError, match=r"p\.fasta:3: not valid UTF-8"):
        list(rows_and_form(path)[1])
    rows = list(rows_and_form(path, errors="skip", on_bad_line=lambda number, _: listed.append(number))[1])
    assert (rows, listed) == ([(5, list("AAA"))], [3])


def test_only_slashes_are_written_otherwise_in_a_file():
    assert dataset_name("sp|P1.2|A/B") == "sp|P1.2|A_B"
