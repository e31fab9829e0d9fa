"""The files of the analyses are read line by line as every text is."""

import pytest

from elmo.errors import TextError
from elmo_paper.analysis.senses.inventory import read_inventory
from elmo_paper.analysis.senses.raganato import read_keys, read_sentences

_CORPUS = (
    '<corpus><text id="d">\n<sentence id="s">\n<instance id="i" lemma="Fluß" pos="NOUN">Fluß</instance>\n'
    "</sentence></text></corpus>\n"
)
# Reader -> how it reads a file, and a whole file of at least two lines with a letter that isn't ASCII.
READERS = {
    "inventory": (
        lambda path: dict(read_inventory(path).senses),
        "lemma\tpos\trank\tsense_key\tsemcor_count\nFluß\tNOUN\t1\tk\t3\n",
    ),
    "keys": (read_keys, "a k1\nFluß k2\n"),
    "corpus": (lambda path: list(read_sentences(path)), _CORPUS),
}


@pytest.mark.parametrize("name", READERS)
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path, name):
    read, text = READERS[name]
    plain, windows = tmp_path / "plain", tmp_path / "windows"
    plain.write_bytes(text.encode())
    windows.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert read(plain) == read(windows)


@pytest.mark.parametrize("name", READERS)
def test_a_byte_that_is_no_utf8_is_named_with_its_line(tmp_path, name):
    read, text = READERS[name]
    content = text.encode("latin-1")
    (tmp_path / "x").write_bytes(content)
    line = content[: content.index(b"\xdf")].count(b"\n") + 1
    # A corpus is XML, whose encoding its parser knows.
    what = r"not well-formed" if name == "corpus" else r"not valid UTF-8 \(byte 0xDF at column \d+\)"
    with pytest.raises(TextError, match=rf"x:{line}: .*{what}"):
        read(tmp_path / "x")
