"""Small files in the forms that people publish, with own words: the name, the content, and what is right for it.

Right is a list of the tokens of its sentences, or a part of the message with which it is refused.
"""

import gzip
import json
import sqlite3
import struct
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

RIGHT = [["Anna", "left", "Rome", "."], ["Rain", "fell", "."]]
"""What every file has that is read."""
Right = list[list[str]] | str


def _rows(*columns: str, separator: str = " ", count_from: int | None = None, width: int | None = None) -> str:
    """The sentences as rows: "{}" in a column stands for the word."""
    made = []
    for sentence in RIGHT:
        for number, word in enumerate(sentence):
            cells = [] if count_from is None else [str(number + count_from)]
            cells += [column.format(word) for column in columns]
            made.append(separator.join(cells + ["_"] * ((width or 0) - len(cells))))
        made.append("")
    return "\n".join(made) + "\n"


def _tagged(form: str, *, end: str = "\n") -> str:
    """`form` has {w} for the word, {p} and {n} for its part of speech and its name's tag."""
    of = {
        "Anna": ("NNP", "B-PER"),
        "Rome": ("NNP", "B-LOC"),
        ".": (".", "O"),
        "left": ("VBD", "O"),
        "Rain": ("NN", "O"),
    }
    of["fell"] = ("VBD", "O")
    made = []
    for sentence in RIGHT:
        made += [form.format(w=word, p=of[word][0], n=of[word][1], i=i + 1) for i, word in enumerate(sentence)]
        made.append("")
    return end.join(made) + end


_CONLLU = _rows("{}", separator="\t", count_from=1, width=10)
_TWO = _tagged("{w} {n}")
_TEXT = "Anna left Rome .\nRain fell .\n"
_TABLE = [("1", "Anna left Rome ."), ("2", "Rain fell .")]


def _csv(separator: str, header: str = "id{}text", quote: str = "") -> str:
    head = header.format(separator) + "\n" if header else ""
    return head + "".join(f"{number}{separator}{quote}{text}{quote}\n" for number, text in _TABLE)


COLUMNS: dict[str, tuple[str, str, Right]] = {
    "CoNLL-2003": ("eng.testa", "-DOCSTART- -X- -X- O\n\n" + _tagged("{w} {p} I-NP {n}"), RIGHT),
    "CoNLL-2003 without documents": ("ner.txt", _tagged("{w} {p} I-NP {n}"), RIGHT),
    "CoNLL-2000": ("chunks.txt", _tagged("{w} {p} B-NP"), RIGHT),
    "two columns": ("wikigold.conll.txt", _TWO, RIGHT),
    "two columns, no ending": ("train", _TWO, RIGHT),
    "two columns, tabs": ("a.bio", _tagged("{w}\t{n}"), RIGHT),
    "two columns, Windows": ("a.iob2", _tagged("{w}\t{n}", end="\r\n"), RIGHT),
    "WNUT": ("emerging.test.annotated", _tagged("{w}\t{n}"), RIGHT),
    "Label Studio": ("ls.conll", "-DOCSTART- -X- O\n" + _tagged("{w} -X- _ {n}"), RIGHT),
    "parts of speech": ("pos.txt", _tagged("{w}\t{p}"), RIGHT),
    "tags before tokens": ("first.txt", _tagged("{n} {w}"), r"column 1 has .* tags .*--format conll --field N"),
    "GermEval": (
        "NER-de.txt",
        "#\thttp://a.b [2009]\n" + _tagged("{i}\t{w}\t{n}\tO"),
        r"column 1 has 1, 2, .*--field N",
    ),
    "a token per line, named": ("tokens.conll", _rows("{}"), RIGHT),
    "CoNLL-U": ("ud.conllu", "# sent_id = 1\n# text = Anna left Rome.\n" + _CONLLU, RIGHT),
    "CoNLL-U as text": ("tree.txt", "# newdoc\n" + _CONLLU, RIGHT),
    "CoNLL-U as .conll": ("ud.conll", "# text = Anna left Rome.\n" + _CONLLU, RIGHT),
    "CoNLL-X": ("german.conllx", _CONLLU.replace("\t_\t_\t_\t", "\tNN\tNN\t_\t"), RIGHT),
    "CoNLL-U Plus": (
        "parseme.cupt",
        "# global.columns = ID FORM UPOS PARSEME:MWE\n" + _rows("{}", separator="\t", count_from=1, width=4),
        RIGHT,
    ),
    "CoNLL-U Plus, named": ("a.conllup", "# global.columns = FORM UPOS\n" + _rows("{}", "X", separator="\t"), RIGHT),
    "CoNLL-U Plus without FORM": (
        "b.conllup",
        "# global.columns = ID WORD\n" + _rows("{}", separator="\t", count_from=1),
        r"is FORM.*--format conll --field N",
    ),
    "CoNLL-2009": (
        "a.conll09",
        _rows("{}", "lemma", "plemma", separator="\t", count_from=1, width=14),
        r"--format conll --field N",
    ),
    "CoNLL-2012": (
        "a.v4_gold_conll",
        "#begin document (d); part 000\n"
        + _rows("d", "0", "9", "{}", "X", "*", "-", "-", "-", "S1", "*", "-", separator="   ")
        + "#end document\n",
        RIGHT,
    ),
    "CoNLL-2012, cut": ("b.conll", _rows("d", "0", "9", "{}", "X", "*", "-", "-"), r"column 1 has d, d, "),
    "LitBank": (
        "l.conll",
        "#begin document (l); part 0\n"
        + _rows("l", "0", "7", "{}", "_", "_", "(1)", separator="\t")
        + "#end document\n",
        RIGHT,
    ),
    "words withheld": ("gumreddit.conllu", _rows("_", separator="\t", count_from=1, width=10), r"Of a treebank with"),
    "ragged": ("r.conll", "Anna B-PER\nleft\n", r"r.conll:2: has one column, but the first row of its sentence has 2"),
    "NBSP": ("n.conll", "10\u00a0000 CD O\neuros NNS O\n", [["10\u00a0000", "euros"]]),
    "ideographic space": ("i.conll", "あ\u3000い X\n. Y\n", [["あ\u3000い", "."]]),
    "documents inside a sentence": ("d.conll", "Anna O\n-DOCSTART- O\nleft O\n", [["Anna"], ["left"]]),
}

OTHERS: dict[str, tuple[str, str | bytes, Right]] = {
    "text": ("a.txt", _TEXT, RIGHT),
    "text with a byte order mark": ("bom.txt", b"\xef\xbb\xbf" + _TEXT.encode(), RIGHT),
    "text, Windows twice over": ("crcrlf.txt", _TEXT.replace("\n", "\r\r\n"), RIGHT),
    "text, Macintosh": ("mac.txt", _TEXT.replace("\n", "\r"), r"mac.txt:1: has a carriage return \(CR\) at column 17"),
    "columns, Macintosh": ("mac.conll", _TWO.replace("\n", "\r"), r"mac.conll:1: has a carriage return"),
    "CSV, Macintosh": ("mac.csv", _csv(",").replace("\n", "\r"), r"mac.csv:1: has a carriage return"),
    "JSON lines": ("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for _, text in _TABLE), RIGHT),
    "JSON lines as text": ("b.txt", "".join(json.dumps({"text": text}) + "\n" for _, text in _TABLE), RIGHT),
    "JSON lines as .json": ("b.json", "".join(json.dumps({"text": words}) + "\n" for words in RIGHT), RIGHT),
    "a JSON array": ("rows.json", json.dumps([{"text": text} for _, text in _TABLE]), RIGHT),
    "a JSON array, indented": ("rows2.json", json.dumps([{"text": text} for _, text in _TABLE], indent=1), RIGHT),
    "a JSON array as text": ("rows.txt", json.dumps([{"text": words} for words in RIGHT], indent=2), RIGHT),
    "an array of strings": ("rows3.json", json.dumps([text for _, text in _TABLE], indent=1), RIGHT),
    "an array of lists": ("rows4.json", json.dumps(RIGHT), RIGHT),
    "an array of words": ("rows5.json", json.dumps(RIGHT[0]), r"rows5.json: the array is a flat list of words"),
    "an array of numbers": ("rows6.json", "[[1, 2]]\n", r":1: field 'text'\[0\] is 1 \(int\), but a token is a string"),
    "an array with other keys": ("rows7.json", '[{"body": "a"}]', r"there is no field 'text'.*'body'.*--field"),
    "an array that is cut off": (
        "rows8.json",
        '[\n{"text": "Rain fell ."},\n{"text": "An',
        r":3: not a valid JSON array",
    ),
    "arrays as lines": ("lists.jsonl", '["a"]\n["b"]\n', r":2: not a valid JSON array .*one object per line"),
    "SQuAD": ("squad.json", json.dumps({"version": "1.1", "data": [{"title": "Rome"}]}, indent=2), r"not valid JSON"),
    "JSON as .conll": ("j.conll", json.dumps([{"text": "a"}], indent=1), r":3: has 2 columns, but"),
    "FASTA": ("p.fasta", ">sp|P1|ANNA\nMKTAYIAKQR\n>sp|P2|ROME\nGGSLLF\n", [list("MKTAYIAKQR"), list("GGSLLF")]),
    "CSV": ("a.csv", _csv(","), RIGHT),
    "CSV of Excel in Europe": ("b.csv", _csv(";"), RIGHT),
    "CSV with its separator": ("c.csv", "sep=;\r\n" + _csv(";").replace("\n", "\r\n"), RIGHT),
    "CSV with tabs": ("d.csv", _csv("\t"), RIGHT),
    "CSV with a cell too many": ("g.csv", "text\nRain fell, and Anna left\n", r"g.csv:2: there are 2 columns, but"),
    "TSV": ("a.tsv", _csv("\t"), RIGHT),
    "CP949": ("ko.txt", "비가 왔다 .\n".encode("cp949"), r"not valid UTF-8.*--encoding .*cp949"),
    "UTF-16": ("u16.txt", _TEXT.encode("utf-16"), RIGHT),
    "UTF-16, the other way round": ("u16be.txt", b"\xfe\xff" + _TEXT.encode("utf-16-be"), RIGHT),
    "UTF-16, cut off": ("u16cut.txt", _TEXT.encode("utf-16")[:-1], r"beyond line 1: it is damaged UTF-16"),
    "columns in UTF-16": ("u16.conll", _TWO.encode("utf-16"), RIGHT),
    "CSV of Excel in UTF-16": ("u16.csv", _csv("\t").replace("\n", "\r\n").encode("utf-16"), RIGHT),
    "a list with years and numbers": (
        "years.txt",
        "1914 It began .\n1918 It ended at last .\n3 of us left .\n1950 Rain fell .\n1951 Sun .\n1952 Rain again .\n",
        [
            ["1914", "It", "began", "."],
            ["1918", "It", "ended", "at", "last", "."],
            ["3", "of", "us", "left", "."],
            ["1950", "Rain", "fell", "."],
            ["1951", "Sun", "."],
            ["1952", "Rain", "again", "."],
        ],
    ),
    "UTF-32": ("u32.txt", _TEXT.encode("utf-32"), r"is not text.*iconv"),
    "UTF-16 without a mark": ("u16le.txt", _TEXT.encode("utf-16-le"), r"is not text.*iconv -f UTF-16LE"),
    "Shift-JIS": (
        "ja.txt",
        "雨が降った。アンナはローマを去った。\n".encode("shift_jis"),
        r"not valid UTF-8 .byte 0x89",
    ),
    "UTF-8, cut off": ("cut.txt", "Anna — left Rome .\nRome — é한".encode()[:-1], r"cut.txt:2: not valid UTF-8"),
    "Latin-1": ("latin.txt", "café\n".encode("latin-1"), r"Use --encoding with what"),
    "PDF": ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\n", r"is not text: a document"),
    "gzip": ("a.text", gzip.compress(b"Rain fell .\n" * 99), r"is not text.*a packed file its ending .\.gz"),
    "a program": ("python3", b"\x7fELF\x02\x01\x01" + bytes(99), r"is not text: .* binary"),
    "unknown bytes": ("a.bin", bytes(range(256)) * 4, r"is not text"),
    "quoted mail": ("mail.txt", "> Rain fell .\nYes\n", [[">", "Rain", "fell", "."], ["Yes"]]),
    "two words a line": ("names.txt", "Anna Smith\nBo Li\nCy Ray\n", [["Anna", "Smith"], ["Bo", "Li"], ["Cy", "Ray"]]),
    "a word a line": ("words.txt", "rain\n\nRome\n", [["rain"], [], ["Rome"]]),
    "lines of equal length": (
        "equal.txt",
        "line 0 of it .\nline 1 of it .\nline 2 of it .\n",
        [["line", n, "of", "it", "."] for n in "012"],
    ),
    "hashtags": ("tweets.txt", "#rain in Rome\n#sun in Oslo\n", [["#rain", "in", "Rome"], ["#sun", "in", "Oslo"]]),
}


def binary_documents(folder: Path) -> list[Path]:
    """Files that other libraries write."""
    docx = folder / "a.docx"
    with zipfile.ZipFile(docx, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    packed = folder / "a.tar"
    with tarfile.open(packed, "w") as archive:
        archive.addfile(tarfile.TarInfo("text.txt"), BytesIO(b""))
    database = folder / "a.db"
    with sqlite3.connect(database) as connection:
        connection.execute("create table texts (text)")
    connection.close()
    weights = folder / "a.npy"
    weights.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"{'descr': '<f4'}\n" + bytes(64))
    tensors = folder / "model.safetensors"
    tensors.write_bytes(struct.pack("<Q", 9000) + b'{"a":{"dtype":"F32"}}' + b" " * 8000)
    return [tensors, docx, packed, database, weights]
