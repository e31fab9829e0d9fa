"""Known forms: what nothing but one kind of file has in its first lines, and the step that leads to its words.

The patterns are written so that Python and JavaScript read them alike (an exported page of the explorer has them, too);
that of speakers also as POSIX's extended expressions, so that the same text finds the lines and cuts them. A step is a
command of any sed, not of GNU's alone: none has "\\n" in what it writes, or "\\t" in what it looks for.
"""

import re
from collections.abc import Sequence

_CHAT = "messages of a chat"
_TIME = r"[0-9]{1,2}:[0-9]{2}"
_CLOCK = rf"{_TIME}(:[0-9]{{2}})?(.{{0,3}}[AaPp]\.?[Mm]\.?)?"
# Before each message, with time and name: of WhatsApp; of KakaoTalk's telephones and computers.
_SPEAKER = (
    rf"([^:0-9A-Za-z]{{0,9}}[0-9]{{1,4}}([./-] ?[0-9]{{1,4}}){{2}}[^:0-9]{{1,12}}{_CLOCK}(\]| -) [^:]{{1,60}}: |"
    rf"[^:0-9]{{0,12}}([0-9]{{1,4}}[^:0-9]{{1,12}}){{2,3}}{_CLOCK}, [^:]{{1,60}} : |"
    rf"\[[^:]{{1,60}}\] \[[^:0-9]{{0,9}}{_TIME}[^:0-9]{{0,9}}\] )"
)
_MESSAGES = f"Write the first line of each message: sed -nE 's#^{_SPEAKER}##p' OLD > NEW"
# Before each message that was copied out of Telegram, with "[ Photo ]" and "[In reply to Bo]" in lines of their own.
_COPIED = rf"[^[]{{1,60}}, \[[^:0-9]{{0,9}}([0-9]{{1,4}}[^:0-9]{{1,12}}){{2,3}}{_CLOCK}\]:?"
_IRC = "a log of IRC"
_SAID_IN_IRC = "Write the messages alone: sed -nE 's/^[^<>]{0,40}<.?[^[:space:]<>]{1,30}>[[:blank:]]+//p' OLD > NEW"
_TURN = r"([^ ]{1,9} +)?@*[AB]\.[0-9]+( utt[0-9]+)?: "
_SWITCHBOARD = "a transcript of Switchboard"
_WORDS_OF_TURNS = (
    f"Write the words alone: sed -nE '/^{_TURN}/"
    r"{s///; s/\{[A-Z] |<[^>]*>|[][{}+]|-?\/[[:space:]]*$//g; p;}' OLD > NEW"
)
# A node with a node in it; of Floresta with its form behind its function ("UTT+np"). A leaf ends soon.
_TREE = r"\(\s*(?:\(\s*)?[A-Z\d][A-Z\d.-]*(?:\+[\w-]+)?\s*\("
_LEAF = r"(?:\([^\s()]+(?: [^\s()]+){1,2}\)\s*\)|\([A-Z-]+(?: [^\s()]+)+\))"
_WORDS_OF_TREES = (
    r"Write a word per line: sed -E '/^#/d; /^\(/{x;p;x;}; s/\(-NONE- [^()]*\)//g; s/\(([^ ()]+)\)/ \1 /g; "
    r"s/\([^ ()]+ ([^()]+)\)/ \1 /g; s/\([^ ()]*|\)//g; s/[[:space:]]+/ /g; s/^ | $//g; y/ /\n/; /^$/d' OLD > NEW; "
    "use --format conll"
)

FORMS: list[tuple[str, str, str]] = [
    (
        "subtitles",
        r"WEBVTT|(?:[^\n]*\n){0,8}(?:(?:\d+:)?\d+:\d\d[.,]\d+(?: --> |,\d+:)|\[\d+:\d\d[.:]\d\d\])",
        "Write their text alone into a file",
    ),
    ("LaTeX", r"\\documentclass", "Extract its text first: detex FILE, or pandoc -t plain FILE"),
    (
        "labels and texts of fastText",
        r"(?:.*\n)*__label__\S",
        "Cut the labels off: sed -E 's/^(__label__[^ ]+ +)+//' OLD > NEW",
    ),
    (
        "PubTator",
        r"\d+\|[ta]\|",
        "Write titles and abstracts alone: sed -nE 's/^[0-9]+\\|[ta]\\|//p' OLD > NEW",
    ),
    (
        "annotations beside a text, as of brat",
        r"T\d+\t\S+ \d+ \d+|[EARMN]\d+\t[^\s:]+[ :](?:[^\s:]+:)?[TE]\d+|\*\t\S+ T\d+|#\d+\t\S+ [TEAR]\d+\t"
        r'|c=".*" \d+:\d+ \d+:\d+\|\|',
        "Name the text that they are about",
    ),
    (
        "corrections in M2",
        r"S .*\n(?:.*\n)*A -?\d+ -?\d+\|\|\|",
        "Write the sentences alone: sed -n 's/^S //p' OLD > NEW",
    ),
    ("AMR", r"(?:.*\n)*# ::(?:id|snt) ", "Write the sentences alone: sed -n 's/^# ::snt //p' OLD > NEW"),
    ("messages of gettext", r'(?:.*\n)*msgid "', "Write their text alone into a file"),
    (
        "a transcript in CHAT",
        r"@(?:UTF8|Begin)(?:\n|$)",
        "Write its utterances alone into a file, with CLAN or pylangacq",
    ),
    ("Constraint Grammar", r'"<\S+>"\n+"', "Write its words alone into a file"),
    ("a TextGrid of Praat", r'File type = "oo', "Write its words alone into a file"),
    ("a model of n-grams (ARPA)", r"\\data\\\n", "Name the text that it was made from"),
    ("a database of Toolbox", r"\\_sh v\d", "Write its texts alone into a file"),
    (_CHAT, r"(?=.*(?:카카오톡 대화|KakaoTalk Chats)).*\n(?:저장한 날짜|Date Saved) ?:", _MESSAGES),
    (
        _CHAT,
        r"\[LINE\] .*\n[^\d\n]{1,20}\d+[./-] ?\d+[./-] ?\d+.*\d:\d\d",
        "Write the first line of each message: cut -sf3- OLD > NEW",
    ),
    (
        _CHAT,
        rf"{_COPIED}\n(?:.*\n)*{_COPIED}(?:\n|$)",
        f"Take out the lines of names and times: sed -E '/^{_COPIED}[[:space:]]*$/d; "
        r"/^\[[^]]*\][[:space:]]*$/d' OLD > NEW",
    ),
    (
        # Its first line; who comes and goes; without times, a speaker who acts, or whom another one addresses.
        _IRC,
        r"(?:--- Log opened|\*\*\*\* BEGIN LOGGING AT|Session Start:) .*\d:\d\d(?::\d\d)? \d{4}(?:\n|$)|"
        r"(?:.*\n)*[^\t\n]{0,60} [\[(][^\s@]{1,40}@[^\s@]{1,90}[\])] has (?:(?:joined|left) [#&]|quit [(\[])|"
        r"<[ @+%&~!]?([^\s<>]{1,30})> .*\n(?:<[^<>\n]{1,31}> .*\n|\* .*\n)*"
        r"(?:\* \1 |<(?!.?\1>)[^<>\n]{1,31}> \1[:,] )",
        _SAID_IN_IRC,
    ),
    (_SWITCHBOARD, r"(?:.*\n)*\S+ +@*[AB]\.\d+ utt\d+: ", _WORDS_OF_TURNS),
    ("WebAnno TSV 3", r"#FORMAT=WebAnno TSV 3", "Write the sentences alone: sed -n 's/^#Text=//p' OLD > NEW"),
    (
        "KLUE's columns",
        r"(?:## .*\n)*## klue-\S+\t",
        "Write the sentences alone: "
        "sed -nE '/^## klue-/{s/^[^[:blank:]]+ [^[:blank:]]+[[:blank:]]+//; s/<([^<>]*):[A-Z]+>/\\1/g; p;}' OLD > NEW",
    ),
    (
        "reviews with marks",
        r"(?:.*\n)*(?:[^#\n]{1,99}\[[+-]\d\](?:\[\w+\])*##\S|\[t\].*\n##\S)",
        r"Cut the marks off: sed -nE 's/^[^#]*##//p; s/^\[t\] *(.)/\1/p' OLD > NEW",
    ),
    (
        "derivations of CCGbank",
        r"(?:ID=.*\n)?\(<T \S+ \d \d",
        "Write the words alone: "
        r"sed -E '/^ID=/d; s/\(<L [^ ]+ [^ ]+ [^ ]+ ([^ ]+) [^>]*>\)/\1/g; s/\(<T [^>]*>//g; s/ \)//g' OLD > NEW",
    ),
    (
        "trees of Sinica",
        r"(?:#\d+:\S* )?(?:S|NP|VP|GP|PP|%)\((?:\S*[(|])?[Hh]ead:[A-Z]",
        "Write the words alone: sed -E 's/^#[^ ]+ //; s/#([^(]*)\\(.*/|:\\1/; s/[^|()]*\\(//g; "
        "s/[^|():]*(:[^|():]*)*:([^|():]+)[|)]*/\\2 /g' OLD > NEW",
    ),
    (
        "features of CRFsuite",
        r"\S+\t(?:[^\t\n]*\t)*w\[0\]=",
        r"Write a word per line: sed -E 's/^.*[[:blank:]]w\[0\]=([^[:blank:]]*).*/\1/' OLD > NEW; use --format conll",
    ),
    ("trees in brackets", rf"(?:#.*\n)*(?=(?:.*\n){{0,8}}.*{_LEAF}){_TREE}", _WORDS_OF_TREES),
    (
        "trees in Newick",
        # Nested, or with lengths of branches that have a point; blanks only after commas.
        r"(?:\[&[RUru]\] ?)?(?=\(\([^;]*,|\([^;]*(?:[^)\s]\s?,\s?\(|[^\s(,]:-?\d+\.\d))"
        r"\((?:[^\s;,'\[]|,\s?|'[^'\n]*'|\[[^\]\n]*\])*\)(?:'[^'\n]*'|[^\s();,'\[])*;(?:\n|$)",
        "Name the sequences that they are about, as FASTA",
    ),
    (
        "lists of Python",
        r"(?:\['.*'\]\n)*\['.*'\]$",
        'Write the lists with json.dumps, an object {"text": [...]} per line',
    ),
    (
        "features of a genome (GFF, VCF)",
        r"##(?:gff-version|fileformat=VCF)",
        "Name the sequences that they are about, as FASTA",
    ),
]
"""What it is, what its first lines begin with, and how to read it. Lines have no blanks around them."""

LINES: list[tuple[str, str, str]] = [
    (_CHAT, _SPEAKER, _MESSAGES),
    (_SWITCHBOARD, r"@*[AB]\.[0-9]+: .*/", _WORDS_OF_TURNS),
    (
        _IRC,
        r"\[?[^<>\[\]]{0,24}\d{1,2}:\d\d(?::\d\d)?[^<>A-Za-z]{0,9}<[ @+%&~!]?[^\s<>]{1,30}>[ \t]",
        _SAID_IN_IRC,
    ),
]
"""What it is, what most lines begin with, and how to read it."""


def known_form(lines: Sequence[str]) -> tuple[str, str] | None:
    """What lines without blanks around them are, and the next step; None: no form that is listed here."""
    start = "\n".join(lines)
    for what, pattern, step in FORMS:
        if re.match(pattern, start):
            return what, step
    for what, pattern, step in LINES:
        if 2 * sum(re.match(pattern, line) is not None for line in lines) > len(lines):
            return what, step
    return None
