"""Signs: what shows in a file's first lines that they aren't sentences, one per line.

Each sign needs what hardly any sentences have: an object of JSON, an element of XML that closes, cells that are all
tags, one number of tabs in every line.
"""

import csv
import json
import re
from collections.abc import Sequence

from elmo.text.formats.annotation import Sign, sign_of_annotation, sign_of_first_words
from elmo.text.formats.columns import column_of_words, column_sentences, why_not_words
from elmo.text.formats.json_array import is_array
from elmo.text.formats.table import names_separator

_JSON = re.compile(r'\s*(?:\{\s*"[^"]*"\s*:|\[\s*(?:\{\s*"|\[\s*[\["\d-]|"[^"]*"\s*[,\]]))')
_ELEMENT = re.compile(r"<(?P<name>[A-Za-z][\w:.-]*)(?P<attributes>\s+[\w:.-]+\s*=\s*[\"'\w][^>]*)?\s*/?>")
_MARKUP = ("<?xml", "<!DOCTYPE", "<!doctype", "<!--")
# Marks that texts for language models have for words.
_SPECIAL_WORDS = {"s", "unk", "pad", "mask", "eos", "bos", "sos", "sep", "cls", "num", "url", "user", "n"}
# A header and letters behind it: more than a word has, or capitals, also in blocks of ten.
_LETTERS = r"\s*(?:[A-Z*-]{10,}(?: [A-Z*-]{1,10})*|[A-Za-z*-]{25,})"
_FASTA = re.compile(rf"> ?[\w|][^\n]*\n{_LETTERS}(?:\n|$)")
# Peptides, if letters as above come later, or else, as likely, quoted questions and answers of a word.
_SHORT_FASTA = re.compile(r"(?:>[\w|][^\n]*\n(?:\s*[A-Za-z*-]+(?:\n|$))+)+")
# What other files of sequences begin with.
_SEQUENCES = {
    "FASTQ": re.compile(r"@\S[^\n]*\n[A-Za-z.]+\n\+[^\n]*\n\S+(\n|$)"),
    "GenBank": re.compile(r"LOCUS {3,}\S+ +\d+ (bp|aa)\b"),
    "Stockholm": re.compile(r"# STOCKHOLM 1\.\d"),
    "CLUSTAL": re.compile(r"CLUSTAL( |W|X|2|O)[^\n]*\n[^\s]+ +[A-Za-z.-]+( \d+)?(\n|$)"),
    "UniProt or EMBL": re.compile(r"ID {3}\S+ +\S.*\n(?:AC|XX|DT)\b"),
    "PDB": re.compile(r"(?:HEADER|ATOM|REMARK|CRYST1) {2,}\S"),
    "mmCIF": re.compile(r"data_\w+\n(?:#|loop_|_\w+\.)"),
    "NEXUS": re.compile(r"#NEXUS\s*(?:\[[^\]]*\]\s*)*begin\b", re.IGNORECASE),
    "SAM": re.compile(r"@HD\tVN:|@SQ\tSN:|\S+\t\d+\t\S+\t\d+\t\d+\t(?:\*|(?:\d+[MIDNSHP=X])+)\t"),
    "PHYLIP": re.compile(
        r"\d{1,7}[ \t]+\d{1,9}(?:[ \t]+[IS])?\n(?:\S[^\n]{0,99}?"
        r"(?:[A-Z][A-Z?*.-]{9}[A-Z?*. -]*|[acgtun][acgtun?.-]{9}[acgtun?. -]*)(?:\n|$)){2}"
    ),
    "PIR": re.compile(r">[A-Z][A-Z\d];\S+\n[^\n]*\n[A-Za-z*\s-]+(\n|$)"),
}
_LINES_OF_A_TAG = 20
_TAG_ALONE = re.compile(r"</?[A-Za-z][^>]*>")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
# The tags of Universal Dependencies and of the Penn Treebank, with the universal ones of Petrov et al. 2012.
_PART_OF_SPEECH = re.compile(
    r"ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|CONJ|PRT|"
    r"CC|CD|DT|EX|FW|IN|JJ[RS]?|LS|MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|HYPH|NFP|ADD|AFX|"
    r"GW|[.,:#$()]|``|''|-[LR]RB-"
)
_CODE = re.compile(r"[A-Z][A-Z0-9$+:_-]*|[^\w\s]+")
_ENDS = frozenset(".!?。！？")
# Few lines may look like columns by chance.
_FEWEST_ROWS = 5
_FEWEST_COUNTED = 20


def sign_of(lines: Sequence[str]) -> Sign | None:
    """What the first lines of a file are, if not sentences; None: nothing shows."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    return (
        sign_of_structure(filled)
        or sign_of_annotation(filled)
        or sign_of_columns(lines)
        or _table(filled)
        or sign_of_first_words(filled)
    )


def sign_of_structure(filled: Sequence[str]) -> Sign | None:
    """JSON, markup, FASTA or a table that says so, by lines that aren't blank; None: nothing shows it."""
    first = filled[0].lstrip("\ufeff \t")
    if _JSON.match(" ".join(filled[:3])):
        return _json(filled)
    if vertical := _vertical(filled):
        return vertical
    if first.startswith(_MARKUP) or _is_element(first, filled):
        extracted = " (of WikiExtractor: --json makes objects)" if first.startswith("<doc ") else ""
        return Sign(f"XML or HTML ({first[:40]!r})", f"Extract its text first{extracted}")
    if sequences := _sequences(first, filled):
        return sequences
    if names_separator(first):
        return Sign("CSV", "Use --format csv", "csv")
    return None


def _vertical(filled: Sequence[str]) -> Sign | None:
    """Tokens in lines, among which lines of tags or of "EOS" show the sentences."""
    rest = [line for line in filled if not _TAG_ALONE.fullmatch(line.strip())]
    if len(rest) < len(filled) and len(rest) >= _FEWEST_ROWS:
        is_tokens = "<s>" in filled and all(" " not in line.strip() for line in rest)
        if is_tokens or all("\t" in line.strip() for line in rest):
            step = "Make blank lines of its tags: sed -E 's#^</(s|p|doc|text)> *$##; /^<[^>]*>$/d' OLD > NEW"
            return Sign(f"vertical text ({filled[0][:40]!r})", f"{step}; use --format conll")
    if "EOS" in filled and all("\t" in line or line == "EOS" or line.startswith("* ") for line in filled):
        step = "Make blank lines of EOS: sed -E '/^\\* [0-9]/d; s/^EOS$//' OLD > NEW"
        return Sign(f"MeCab's output ({filled[0][:40]!r})", f"{step}; use --format conll")
    return None


def _sequences(first: str, filled: Sequence[str]) -> Sign | None:
    """FASTA, and what is to be converted to it."""
    start = "\n".join([first, *(line.rstrip() for line in filled[1:])])
    for name, pattern in _SEQUENCES.items():
        if pattern.match(start):
            return Sign(f"{name} ({first[:40]!r})", "Convert it to FASTA first")
    is_short = len(filled) > 1 and _SHORT_FASTA.fullmatch(start) is not None
    is_sure = _FASTA.match(start) or is_short and any(re.fullmatch(_LETTERS, line) for line in start.split("\n"))
    if is_sure or is_short:
        return Sign(f"FASTA ({first[:40]!r})", "Use --format fasta", "fasta" if is_sure else None)
    return None


def _json(filled: Sequence[str]) -> Sign:
    if all(map(_is_object, filled[:20])):
        return Sign("JSON lines", "Use --format jsonl", "jsonl")
    if is_array(filled):
        return Sign("a JSON array", "Use --format jsonl", "jsonl")
    step = "Write one object per line and use --format jsonl: jq -c '.[]' OLD > NEW.jsonl"
    return Sign(f"JSON ({filled[0].strip()[:40]!r})", step)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_element(first: str, filled: Sequence[str]) -> bool:
    match = _ELEMENT.match("\n".join([first, *filled[1:_LINES_OF_A_TAG]]))
    if match is None or match["name"].lower() in _SPECIAL_WORDS and not match["attributes"]:
        return False
    closing = f"</{match['name']}>"
    return bool(match["attributes"]) or match.end() >= len(first.rstrip()) or any(closing in line for line in filled)


def sign_of_columns(lines: Sequence[str]) -> Sign | None:
    """Columns of tokens: CoNLL-U, columns with tags, a token per line; None: nothing shows it."""
    filled = [line for line in lines if line.strip()]
    if is_conllu(filled):
        return Sign("CoNLL-U", "Use --format conllu", "conllu")
    if filled[0].startswith(("-DOCSTART-", "#begin document")):
        return Sign("CoNLL columns", "Use --format conll", "conll")
    bad: list[int] = []
    found = [it.rows for it in column_sentences(lines, "", lambda number, _: bad.append(number)) if it.rows]
    rows = [row for sentence in found for row in sentence]
    if len(rows) < 2 or len(bad) > len(found) // 20:
        return None
    words = column_of_words(found)
    step = f"Use --format conll --field {1 if words is None else words + 1}"
    width = min(map(len, rows))
    if any(len(row) != width for row in rows):
        # Those of semantic roles have a column for each predicate of the sentence.
        is_wide = width > 2 and len(rows) > 2 * len(found)
        return Sign(f"columns ({' '.join(rows[0])[:40]!r})", step) if is_wide else None
    if width == 1:
        ends = sum(rows_of_one[-1][0] in _ENDS for rows_of_one in found)
        return Sign("a token per line", "Use --format conll") if len(found) > 1 and 2 * ends > len(found) else None
    columns = [[row[column] for row in rows] for column in range(width)]
    has_tags = any((why_not_words(found, column) or "").startswith("has tags") for column in range(width))
    is_outside = len(rows) > 2 and set(columns[-1]) == {"O"}
    if has_tags or is_outside or any(_are_words_of(_PART_OF_SPEECH, column) for column in columns[1:]):
        return Sign(f"columns with tags ({' '.join(rows[0])[:40]!r})", step, "conll")
    # Not those of paragraphs that begin with one.
    at_tabs = all("\t" in line.strip() for line in filled if line[0] != "#") and any(line[0] != "#" for line in filled)
    if at_tabs and any(" " in cell for row in rows for cell in row):
        step = f"Use --format tsv --field {_field_of_texts(rows[0], columns)}"
        return Sign(f"a table with tabs ({' | '.join(rows[0])[:40]!r})", step)
    codes = [column for column in columns if _are_words_of(_CODE, column)]
    has_numbers = any(all(map(str.isdecimal, column)) for column in columns[1:])
    if len(found) == 1 and _FEWEST_COUNTED <= len(rows) == len(set(columns[0])) and has_numbers:
        cut = "cut -f1" if at_tabs else "cut -d' ' -f1"
        return Sign(f"a list of words with numbers ({' '.join(rows[0])[:40]!r})", f"Cut the words out: {cut} OLD > NEW")
    counts = width > 2 and (why_not_words(found, 0) or "").startswith("counts")
    if at_tabs or (len(rows) >= _FEWEST_ROWS and 0 < len(codes) < width) or (len(rows) > 2 and counts):
        return Sign(f"columns ({' '.join(rows[0])[:40]!r})", step)
    return None


def _are_words_of(tags: re.Pattern[str], column: Sequence[str]) -> bool:
    """Whether all are tags and not just marks, in which sentences of equal length may end."""
    return all(map(tags.fullmatch, column)) and any(len(tag) > 1 and tag[0].isalpha() for tag in column)


def is_conllu(filled: Sequence[str]) -> bool:
    """Whether there are rows of ten columns, the first of which has numbers, or the names of the columns of CoNLL-U
    Plus."""
    if filled[0].startswith("# global.columns"):
        return True
    rows = [line.split("\t") for line in filled if line[0] != "#"]
    return bool(rows) and all(len(row) == 10 and row[0].replace("-", "").replace(".", "").isdecimal() for row in rows)


def _table(filled: Sequence[str]) -> Sign | None:
    """A header of single words, or the same number of separators in all lines."""
    for separator in ",;|":
        try:
            header, *rows = csv.reader(filled[:50], delimiter=separator)
        except csv.Error:
            continue
        if not rows or len(header) < 2 or any(len(row) != len(header) for row in rows):
            continue
        is_tight = separator != "," and len(rows) > 1 and not any(_loose(separator, line) for line in filled)
        is_quoted = all(line.startswith('"') and f'"{separator}' in line for line in filled[:50])
        if all(map(_NAME.fullmatch, header)) or is_tight or is_quoted:
            field = _field_of_texts(header, list(zip(*rows, strict=True)))
            return Sign(f"a table with {separator!r} ({filled[0][:40]!r})", f"Use --format csv --field {field}")
    return None


def _field_of_texts(header: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """The name of the column with the longest cells, or its number if the first row has no names."""
    longest = max(range(len(columns)), key=lambda column: sum(map(len, columns[column])))
    return header[longest] if all(map(_NAME.fullmatch, header)) else str(longest + 1)


def _loose(separator: str, line: str) -> bool:
    """Whether the separator is next to a space, as a mark in a sentence is."""
    return f" {separator}" in line or f"{separator} " in line
