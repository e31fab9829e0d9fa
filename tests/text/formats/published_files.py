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
    "CoNLL-2003 as text": ("eng.txt", "-DOCSTART- -X- -X- O\n\n" + _tagged("{w} {p} I-NP {n}"), RIGHT),
    "CoNLL-2003 without documents": ("ner.txt", _tagged("{w} {p} I-NP {n}"), RIGHT),
    "CoNLL-2000": ("chunks.txt", _tagged("{w} {p} B-NP"), RIGHT),
    "two columns": ("wikigold.conll.txt", _TWO, RIGHT),
    "two columns, no ending": ("train", _TWO, RIGHT),
    "two columns, tabs": ("a.bio", _tagged("{w}\t{n}"), RIGHT),
    "two columns, Windows": ("a.iob2", _tagged("{w}\t{n}", end="\r\n"), RIGHT),
    "WNUT": ("emerging.test.annotated", _tagged("{w}\t{n}"), RIGHT),
    "Label Studio": ("ls.conll", "-DOCSTART- -X- O\n" + _tagged("{w} -X- _ {n}"), RIGHT),
    "parts of speech": ("pos.txt", _tagged("{w}\t{p}"), RIGHT),
    "WikiANN": ("train", _tagged("en:{w}\t{n}"), r"all words .* begin with 'en:'.*Cut it off: sed"),
    "roles with a column for each predicate": (
        "conll09.txt",
        "1\tAnna\tNNP\t2\t_\tA0\n2\tleft\tVBD\t0\tY\t_\n3\tRome\tNNP\t2\t_\tA1\n\n"
        "1\tRain\tNN\t2\t_\n2\tfell\tVBD\t0\t_\n3\t.\t.\t2\t_\n",
        r"looks like columns .*--format conll --field 2",
    ),
    "vertical text": (
        "bnc.vert",
        "<doc id='1'>\n" + "<s>\nAnna\tNP\nleft\tV\nRome\tNP\n</s>\n" * 2 + "</doc>\n",
        r"vertical text .*sed .*--format conll",
    ),
    "MeCab": ("a.mecab", "비\tNNG,*\n가\tJKS,*\nEOS\n", r"MeCab's output .*sed .*--format conll"),
    "words with frequencies": (
        "count.txt",
        "".join(f"{letter}ain {99 - n}\n" for n, letter in enumerate("abcdefghijklmnopqrst")),
        r"a list of words with numbers .*cut -d' ' -f1 OLD",
    ),
    "tags before tokens": ("first.txt", _tagged("{n} {w}"), r"column 1 has tags .* Use --format conll --field 2"),
    "GermEval": ("NER-de.txt", "#\thttp://a.b [2009]\n" + _tagged("{i}\t{w}\t{n}\tO"), r"column 1 counts .*--field 2"),
    "GermEval as .tsv": (
        "de.tsv",
        "#\tu [1]\n" + _tagged("{i}\t{w}\t{n}\tO"),
        r"looks like columns with tags .*--format conll",
    ),
    "a token per line": ("tokens.txt", _rows("{}"), r"looks like a token per line.*--format conll"),
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
        r"called FORM.*--format conll --field N",
    ),
    "CoNLL-2009": (
        "a.conll09",
        _rows("{}", "lemma", "plemma", separator="\t", count_from=1, width=14),
        r"Use --format conll --field 2",
    ),
    "CoNLL-2009 as text": (
        "conll09.txt",
        _rows("{}", "lemma", "plemma", separator="\t", count_from=1, width=14),
        r"--field 2",
    ),
    "CoNLL-2012": (
        "a.v4_gold_conll",
        "#begin document (d); part 000\n"
        + _rows("d", "0", "9", "{}", "X", "*", "-", "-", "-", "S1", "*", "-", separator="   ")
        + "#end document\n",
        RIGHT,
    ),
    "CoNLL-2012 as text": (
        "coref.txt",
        "#begin document (d); part 000\n"
        + _rows("d", "0", "9", "{}", "X", "*", "-", "-", "-", "S1", "*", "-")
        + "#end document\n",
        RIGHT,
    ),
    "CoNLL-2012 without its documents": (
        "b.conll",
        _rows("d", "0", "9", "{}", "X", "*", "-", "-"),
        r"column 1 is 'd' in every row.*--field 4",
    ),
    "LitBank": (
        "l.conll",
        "#begin document (l); part 0\n"
        + _rows("l", "0", "7", "{}", "_", "_", "(1)", separator="\t")
        + "#end document\n",
        RIGHT,
    ),
    "words withheld": (
        "gumreddit.conllu",
        _rows("_", separator="\t", count_from=1, width=10),
        r"distributed without its text",
    ),
    "words withheld, as text": (
        "esl.txt",
        _rows("_", separator="\t", count_from=1, width=10),
        r"distributed without its text",
    ),
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
    "an array of words": ("rows5.json", json.dumps(RIGHT[0]), r"is an array of words \('Anna', 'left'"),
    "an array of numbers": ("rows6.json", "[[1, 2]]\n", r":1: token 1 in field 'text' is a number"),
    "an array with other keys": ("rows7.json", '[{"body": "a"}]', r"there is no field 'text'.*'body'.*--field"),
    "an array that is cut off": (
        "rows8.json",
        '[\n{"text": "Rain fell ."},\n{"text": "An',
        r":3: not a valid JSON array \(Invalid control character",
    ),
    "arrays as lines": (
        "lists.jsonl",
        '["a"]\n["b"]\n',
        r":2: not a valid JSON array .*one object per line",
    ),
    "SQuAD": ("squad.json", json.dumps({"version": "1.1", "data": [{"title": "Rome"}]}, indent=2), r"looks like JSON"),
    "JSON as .conll": ("j.conll", json.dumps([{"text": "a"}], indent=1), r"looks like a JSON array"),
    "XML": ("page.xml", '<?xml version="1.0"?>\n<s id="1">Rain fell .</s>\n', r"looks like XML"),
    "XML without a declaration": ("tei.txt", '<text lang="en">\n<p>Rain fell .</p>\n</text>\n', r"looks like XML"),
    "HTML": ("page.html", "<!DOCTYPE html>\n<html><body>Rain fell .\n", r"looks like XML or HTML"),
    "WikiExtractor": (
        "wiki_00",
        '<doc id="12" url="https://a" title="Rome">\nRome\n\nRain fell .\n</doc>\n',
        r"WikiExtractor",
    ),
    "FASTA": ("p.fasta", ">sp|P1|ANNA\nMKTAYIAKQR\n>sp|P2|ROME\nGGSLLF\n", [list("MKTAYIAKQR"), list("GGSLLF")]),
    "FASTQ": ("r.fastq", "@r1 x\nACGTN\n+\nIIII#\n@r2\nACGG\n+r2\nIIII\n", r"FASTQ .*Convert it to FASTA first"),
    "GenBank": ("a.gb", "LOCUS       AB000001   60 bp    DNA\nDEFINITION  Some gene.\n", r"looks like GenBank"),
    "Stockholm": ("a.sto", "# STOCKHOLM 1.0\n\nP1 MKTAY\nP2 MK.AY\n//\n", r"looks like Stockholm"),
    "CLUSTAL": ("a.aln", "CLUSTAL W (1.83)\n\nP1      MKTAY 5\nP2      MK-AY 4\n", r"looks like CLUSTAL"),
    "PIR": ("a.pir", ">P1;CRAB_ANAPL\nAlpha crystallin\n  MDITIHNPLI RRPLFSWLAP\n  SRIFDQIFGE*\n", r"looks like PIR"),
    "CSV": ("a.csv", _csv(","), RIGHT),
    "CSV of Excel in Europe": ("b.csv", _csv(";"), RIGHT),
    "CSV with its separator": ("c.csv", "sep=;\r\n" + _csv(";").replace("\n", "\r\n"), RIGHT),
    "CSV with tabs": ("d.csv", _csv("\t"), RIGHT),
    "CSV with bars": ("e.csv", _csv("|", quote='"'), RIGHT),
    "CSV as text": ("f.txt", _csv(","), r"looks like a table with ','.*--format csv --field text"),
    "CSV as text, quoted": ("q.txt", '"1","Anna left, Rome."\n"2","Rain fell, too."\n', r"looks like a table with ','"),
    "LJSpeech": (
        "metadata.txt",
        _csv("|", header="") + "3|It was late .\n",
        r"looks like a table with '\|'.*--field 2",
    ),
    "CSV with a cell too many": (
        "g.csv",
        "text\nRain fell, and Anna left\n",
        r"g.csv:2: there are 2 columns, but the first row has 1",
    ),
    "TSV": ("a.tsv", _csv("\t"), RIGHT),
    "NSMC": (
        "ratings_train.txt",
        _csv("\t", header="id{}document"),
        r"looks like a table with tabs.*--format tsv --field document",
    ),
    "Leipzig": ("eng-sentences.txt", _csv("\t", header=""), r"looks like a table with tabs.*--format tsv --field 2"),
    "CP949": ("ko.txt", "비가 왔다 .\n".encode("cp949"), r"Korean in CP949.*--encoding cp949"),
    "UTF-16": ("u16.txt", _TEXT.encode("utf-16"), RIGHT),
    "UTF-16, the other way round": ("u16be.txt", b"\xfe\xff" + _TEXT.encode("utf-16-be"), RIGHT),
    "UTF-16, cut off": (
        "u16cut.txt",
        _TEXT.encode("utf-16")[:-1],
        r"beyond line 1: it is damaged UTF-16",
    ),
    "columns in UTF-16": ("u16.conll", _TWO.encode("utf-16"), RIGHT),
    "CSV of Excel in UTF-16": ("u16.csv", _csv("\t").replace("\n", "\r\n").encode("utf-16"), RIGHT),
    "a list of numbers as .json": ("rows9.json", "[[1], 2]\n", r":1: token 1 in field 'text' is a number"),
    "SubRip": (
        "a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\nRain fell.\n\n2\n00:00:03,000 --> 00:00:04,000\nShe left.\n",
        r"looks like subtitles",
    ),
    "WebVTT": ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nRain fell.\n", r"looks like subtitles"),
    "Penn Treebank": (
        "wsj.mrg",
        "( (S\n    (NP-SBJ (NNP Anna) )\n    (VP (VBD left) (NP (NNP Rome) ))\n    (. .) ))\n",
        r"trees in brackets",
    ),
    "trees of sentiment": ("dev.txt", "(3 (2 Rain) (3 (2 fell) (2 .)))\n(1 (2 We) (1 left))\n", r"trees in brackets"),
    "LaTeX": ("a.tex", "\\documentclass{article}\n\\begin{document}\nRain fell.\n", r"looks like LaTeX"),
    "fastText's labels": (
        "cooking.train",
        "__label__wet Rain fell .\n__label__a __label__b Anna left .\n",
        r"labels and texts of fastText.*sed",
    ),
    "lists of Python": ("repr.txt", f"{RIGHT[0]}\n{RIGHT[1]}\n", r"looks like lists of Python.*json.dumps"),
    "parallel text of fast_align": ("en-de.txt", "Rain fell . ||| Es regnete .\nYes ||| Ja\n", r"parallel texts"),
    "GloVe": ("glove.6B.3d.txt", "the 0.1 -0.2 3e-2\nof 0.4 0.5 0.6\n", r"looks like numbers.*--static"),
    "word2vec": ("vectors.txt", "2 3\nthe 0.1 -0.2 3e-2\nof 0.4 0.5 0.6\n", r"looks like numbers.*--static"),
    "LIBSVM": ("a.svm", "1 1:0.5 3:2 7:1\n0 2:1.5 9:1 11:1\n", r"looks like numbers"),
    "ids": ("train.ids", "12 44 9 102\n5 6 7\n", r"looks like numbers"),
    "Brown": ("ca01", "The/AT bank/NN was/BEDZ steep/JJ ./.\nWe/PPSS left/VBD ./.\n", r"words with tags.*\[/\]"),
    "Brown of NLTK": (
        "ca02",
        "\n\n\tThe/at bank/nn was/bedz steep/jj ./.\n\n\tThe/at jury/nn was/bedz old/jj ./.\n",
        r"words with tags.*\[/\]",
    ),
    "tags of the Penn Treebank": (
        "wsj_1.pos",
        "[ Anna/NNP ]\nleft/VBD \n[ Rome/NNP ]\n./. \n\n[ It/PRP ]\nrained/VBD ./.\n",
        r"words with tags.*--sentences across-lines",
    ),
    "Peking": ("pku.txt", "1-1/m  [中国/ns  人民/n]nt  讲话/n  ，/w  人民/n  讲话/n  。/w\n" * 2, r"words with tags"),
    "Sejong": ("s.txt", "나/NP+는/JX 밥/NNG+을/JKO 먹/VV+었/EP+다/EF\n" * 2, r"morphemes with tags .*Name the text"),
    "KAIST": ("k.txt", "나/npp + 는/jxt 밥/ncn + 을/jco 먹/pvg + 다/ef\n" * 3, r"morphemes with tags"),
    "tags without words": ("seq.out", "O O B-city O\nO B-x I-x\n", r"looks like tags"),
    "PubTator": ("cdr.txt", "26|t|Rain fell.\n26|a|It was old.\n26\t0\t4\tRain\tDisease\tD1\n", r"PubTator .*sed -nE"),
    "brat": ("a.ann", "T1\tProtein 7 13\tCOL1A2\nE1\tBinding:T1 Theme:T1\n", r"beside a text.*Name the text"),
    "brat, events first": ("b.ann", "E1\tBinding:T1\nT1\tProtein 7 13;20 24\tCOL1\n", r"beside a text"),
    "i2b2": ("a.con", 'c="rain" 1:2 1:2||t="problem"\n', r"beside a text"),
    "M2": ("a.m2", "S Rain fall .\nA 1 2|||R:V|||fell|||REQUIRED|||-NONE-|||0\n", r"M2 .*sed -n 's/\^S //p'"),
    "AMR": ("amr.txt", "# AMR release\n\n# ::id a.1\n# ::snt Rain fell .\n(f / fall-01)\n", r"AMR .*sed -n"),
    "gettext": ("a.po", '# A comment\nmsgid ""\nmsgstr ""\n"Language: ko\\n"\n', r"messages of gettext"),
    "CHAT": ("a.cha", "@UTF8\n@Begin\n*CHI:\train fell .\n", r"CHAT .*pylangacq"),
    "TextGrid": ("a.TextGrid", 'File type = "ooTextFile"\nxmin = 0\n', r"TextGrid"),
    "ARPA": ("lm.arpa", "\\data\\\nngram 1=2\n", r"ARPA"),
    "Toolbox": ("a.db", "\\_sh v3.0  400  MDF\n\\lx rain\n", r"Toolbox"),
    "Constraint Grammar": ("a.cg", '"<Rain>"\n\t"rain" N\n"<fell>"\n\t"fall" V\n', r"Constraint Grammar"),
    "trees without spaces": ("ptb.trees", "(TOP(S(NP(NNP Anna))(VP(VBD left)(NP(NNP Rome)))(. .)))\n", r"trees in br"),
    "trees without tags": ("wsj_1.prd", "( (S (NP-SBJ (NP Anna Li)\n     ,\n  (VP left)) .))\n", r"trees in br"),
    "captions of YouTube": ("a.sbv", "0:00:00.599,0:00:04.160\nRain fell.\n", r"looks like subtitles"),
    "lyrics": ("a.lrc", "[ti:Rain]\n[00:12.00]Rain fell\n", r"looks like subtitles"),
    "fastText's labels, some missing": ("cook.txt", "Rain fell .\n__label__a Anna left .\n", r"fastText"),
    "phrase table": ("phrases", "rain ||| Regen ||| 0.5 ||| 0-0\nthe ||| der ||| 0.4 ||| 0-0\n", r"parallel texts"),
    "alignments": ("a.align", "0-0 1-1 2-3\n0-0 1-2 2-1\n", r"looks like numbers"),
    "XML, a tag of several lines": ("a.xml", '<package id="a"\n  name="b"\n/>\n', r"looks like XML"),
    "Europarl": ("ep.txt", "<CHAPTER ID=1>\nRain fell .\n<P>\n", r"looks like XML"),
    "UniProt": ("p.dat", "ID   A_HUMAN   Reviewed;   3 AA.\nAC   P1;\n", r"UniProt .*FASTA first"),
    "PDB": ("a.pdb", "HEADER    VIRAL PROTEIN   27-MAR-98\n", r"looks like PDB"),
    "mmCIF": ("a.cif", "data_1ABC\n#\n_entry.id 1ABC\n", r"looks like mmCIF"),
    "LibriSpeech": (
        "a.trans.txt",
        "".join(f"1089-134686-{n:04} RAIN FELL{' AGAIN' * n}\n" for n in range(5)),
        r"an id or a time in each line .*cut -d' ' -f2- OLD",
    ),
    "log": (
        "a.log",
        "".join(f"Jun 1{n} 15:16:0{n} rain fell{' again' * n}\n" for n in range(5)),
        r"an id or a time in each line .*cut -d' ' -f4-",
    ),
    "labels of sentiment": (
        "sst.train",
        "".join(f"{n % 2} rain fell{' again' * n}\n" for n in range(20)),
        r"a label before each text .*cut -d' ' -f2-",
    ),
    "questions of TREC": (
        "TREC_10.label",
        "".join(f"{('NUM:date', 'LOC:city')[n % 2]} What{' now' * n} ?\n" for n in range(20)),
        r"a label before each text",
    ),
    "numbered lines": (
        "babi.txt",
        "".join(f"{n} Rain fell{' again' * n}\n" for n in range(1, 21)),
        r"a number before each line",
    ),
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
    "paragraphs that begin with a tab": (
        "tabs.txt",
        "\tRain fell .\n\n\tAnna left Rome .\n",
        [["Rain", "fell", "."], [], ["Anna", "left", "Rome", "."]],
    ),
    "paths and slashes": (
        "slashes.txt",
        "and/or he/she km/h\nsrc/a doc/b in/out to/from\n",
        [["and/or", "he/she", "km/h"], ["src/a", "doc/b", "in/out", "to/from"]],
    ),
    "words with tags after _": (
        "tagged.txt",
        "The_DT bank_NN was_VBD steep_JJ ._.\nI_PRP left_VBD\n",
        r"words with tags",
    ),
    "factors of Moses": ("a.fact", "Rain|rain|NN fell|fall|VBD .|.|.\nWe|we|PRP left|leave|VBD .|.|.\n", r"words with"),
    "UTF-32": ("u32.txt", _TEXT.encode("utf-32"), r"UTF-32. Convert it first: iconv"),
    "UTF-16 without a mark": (
        "u16le.txt",
        _TEXT.encode("utf-16-le"),
        r"looks like UTF-16LE without .*iconv -f UTF-16LE",
    ),
    "UTF-16 of Korean": (
        "u16.txt",
        "안나가 떠났다. 비가 왔다.\n".encode("utf-16-be") * 9,
        r"looks like UTF-16BE without",
    ),
    "Shift-JIS": ("ja.txt", "雨が降った。アンナはローマを去った。\n".encode("shift_jis"), r"another script than Latin"),
    "UTF-8, cut off": (
        "cut.txt",
        "Anna — left Rome .\nRome — é한".encode()[:-1],
        r"cut.txt:2: .*a character of UTF-8 is cut off",
    ),
    "Latin-1": ("latin.txt", "café\n".encode("latin-1"), r"Use --encoding latin-1"),
    "PDF": ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\n", r"looks like a PDF"),
    "gzip": ("a.text", gzip.compress(b"Rain fell .\n" * 99), r"looks like gzip data. Give its name the ending .gz"),
    "a program": ("python3", b"\x7fELF\x02\x01\x01" + bytes(99), r"looks like a program"),
    "unknown bytes": ("a.bin", bytes(range(256)) * 4, r"is a binary file|is not text"),
    "tokens in angle brackets": (
        "lm.txt",
        "<s> Rain fell . </s>\n<unk> left .\n",
        [["<s>", "Rain", "fell", ".", "</s>"], ["<unk>", "left", "."]],
    ),
    "links of a wiki": (
        "wiki.txt",
        "[[Rome]] is old .\n[ Music ]\n",
        [["[[Rome]]", "is", "old", "."], ["[", "Music", "]"]],
    ),
    "quoted mail": ("mail.txt", "> Rain fell .\nYes\n", [[">", "Rain", "fell", "."], ["Yes"]]),
    "names of files and years": (
        "paths.txt",
        "a/b c/d e/f\nRain fell 3 4\n1 2 3\n(see (A) and (B))\n",
        [["a/b", "c/d", "e/f"], ["Rain", "fell", "3", "4"], ["1", "2", "3"], ["(see", "(A)", "and", "(B))"]],
    ),
    "semicolons": (
        "semi.txt",
        "He came; she left.\nIt rained; we stayed.\nHe ate; I slept.\n",
        [["He", "came;", "she", "left."], ["It", "rained;", "we", "stayed."], ["He", "ate;", "I", "slept."]],
    ),
    "two words a line": ("names.txt", "Anna Smith\nBo Li\nCy Ray\n", [["Anna", "Smith"], ["Bo", "Li"], ["Cy", "Ray"]]),
    "a word a line": ("words.txt", "rain\n\nRome\n", [["rain"], [], ["Rome"]]),
    "lines of equal length": (
        "equal.txt",
        "line 0 of it .\nline 1 of it .\nline 2 of it .\n",
        [["line", n, "of", "it", "."] for n in "012"],
    ),
    "hashtags": ("tweets.txt", "#rain in Rome\n#sun in Oslo\n", [["#rain", "in", "Rome"], ["#sun", "in", "Oslo"]]),
}


def binary_documents(folder: Path) -> list[tuple[Path, str]]:
    """Files that other libraries write, each with a part of the message about it."""
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
    return [
        (tensors, "binary file"),
        (docx, "zip archive or a document"),
        (packed, "is a tar archive, not a text. Unpack it first: tar -xf"),
        (database, "SQLite database"),
        (weights, "array of numpy"),
    ]
