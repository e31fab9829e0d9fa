"""The texts that come with the explorer page: sentences with words of several meanings, drawn from open text.

    python runs/pages/explorer_texts.py DATA OUT

`DATA` holds the folders lm-en, lm-en-modern, lm-ko and lm-ko-more: one tokenized sentence per line, and a manifest of
every document's source and licence. Held-out sentences are taken first, then training text. Writes `senses-en.txt`,
`senses-ko.txt` and `SOURCES.tsv` (each document's source and licence, and the lines that come from it) to `OUT`. The
choice is drawn by a seed.
"""
# ruff: noqa: E501 - lists of words

import csv
import lzma
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

# A word, what its sentence must hold beside it (so that its rarer meanings are there too), and how many are taken.
ENGLISH = [
    ("spring", r"water|hot|well|rock|hill|drink|flow|pool|source", 26), ("spring", r"coil|steel|metal|wire|lock", 8),
    ("spring", r"", 30), ("right", r"to (vote|know|be|have|live|speak)|of", 30), ("right", r"turn|left|hand|side|arm", 30),
    ("right", r"", 12), ("play", r"a play|the play|this play|first play", 26), ("play", r"", 36), ("light", r"", 46),
    ("match", r"won|lost|team|cup|game", 16), ("match", r"lit|struck|strike|fire|cigar", 14), ("match", r"", 14),
    ("bank", r"river|stream|shore|steep|creek", 20), ("bank", r"money|loan|account|credit", 20), ("left", r"", 36),
    ("fair", r"", 28), ("rose", r"", 28), ("fall", r"", 28), ("rock", r"band|music|album|roll", 12), ("rock", r"", 18),
    ("kind", r"", 24), ("lead", r"pipe|metal|zinc|pencil|bullet", 10), ("lead", r"", 22), ("watch", r"", 24),
    ("plant", r"", 20), ("wave", r"", 18), ("wind", r"", 18),
    # Words that stand where one meaning of those above can stand.
    ("summer", r"", 12), ("winter", r"", 12), ("autumn", r"", 8), ("morning", r"", 10), ("evening", r"", 8),
    ("river", r"", 10), ("stream", r"", 8), ("lake", r"", 8), ("fountain", r"", 6), ("duty", r"", 8), ("power", r"", 8),
    ("freedom", r"", 8), ("privilege", r"", 6), ("north", r"", 8), ("corner", r"", 8), ("song", r"", 8), ("story", r"", 10),
    ("novel", r"", 8), ("poem", r"", 6), ("sing", r"", 8), ("dance", r"", 8), ("run", r"", 8),
]  # fmt: skip
KOREAN = [
    ("연기", r"불|담배|화재|검은|굴뚝", 12), ("연기", r"", 60), ("연기가", r"불|담배|화재|검은|굴뚝", 8), ("연기가", r"", 30),
    ("연기를", r"불|담배|화재|검은|굴뚝", 6), ("연기를", r"", 30), ("연기도", r"", 26), ("연기력", r"", 16), ("음악", r"", 20),
    ("음악이", r"", 16), ("캐릭터", r"", 20), ("배우들의", r"", 26), ("감독", r"", 26), ("감독이", r"", 16), ("눈이", r"", 16),
    ("눈을", r"", 18), ("눈물이", r"", 20), ("가슴이", r"", 16), ("마음이", r"", 16), ("손이", r"", 8), ("말이", r"", 20),
    ("말을", r"", 16), ("배를", r"", 12), ("배가", r"", 12), ("사람이", r"", 24), ("사람을", r"", 24), ("사람들이", r"", 16),
    ("영화를", r"", 26), ("영화가", r"", 26), ("정말", r"", 30), ("좀", r"", 20),
]  # fmt: skip
MOST_LINES = 350_000
_ANY_WORD = re.compile("|".join(rf"(?:^| ){word} " for word in {word for word, _, _ in ENGLISH + KOREAN}))
# Licences that let anybody share a sentence, with attribution where they ask for it: SOURCES.tsv is that attribution.
_LICENCES = re.compile(r"public domain|CC0|CC BY(-SA)? [34]\.0|CC BY-SA 3\.0 \(Wikipedia\)|CC BY \(African", re.ASCII)
_NOT_LICENCES = re.compile(r"NC|ND|copyright|UN records")
_UNWANTED = re.compile(
    r"\b(nigger|negro|savage|slut|rape|whore|fuck|shit|bitch)|새끼|병신|씨발|시발|ㅅㅂ|지랄|년아|개같|빨갱이|북괴|쓰레기|망해|농아라서|볼수|모성으로작품",
    re.I,
)


KOREAN_SOURCES = {
    "nsmc": ("e9t/nsmc", "CC0 1.0"),
    "kaist": ("UniversalDependencies/UD_Korean-Kaist", "CC BY-SA 4.0"),
    "gsd": ("UniversalDependencies/UD_Korean-GSD", "CC BY-SA 4.0"),
    "kowiki": ("97danielj/WordEmbedding text/ (Korean Wikipedia)", "CC BY-SA 3.0 (Wikipedia)"),
}


@dataclass(frozen=True)
class Line:
    """One sentence and where it comes from."""

    text: str
    document: str
    source: str
    licence: str


def lines(folder: Path, splits: tuple[str, ...], sources: dict[str, tuple[str, str]] | None = None) -> Iterator[Line]:
    """The sentences of some splits with the facts of their documents."""
    manifest = next(path for name in ("manifest.tsv", "manifest.tsv.xz") if (path := folder / name).exists())
    with (lzma.open if manifest.suffix == ".xz" else open)(manifest, "rt", encoding="utf-8") as file:
        rows = [
            row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["set"] == folder.name
        ]
    for split in splits:
        text = _text(folder, split)
        for row in (row for row in rows if row["split"] == split):
            start = int(row["first_line"]) - 1
            source, licence = (row["source"], row["licence"]) if sources is None else _known(row["doc"], sources)
            for line in text[start : start + int(row["lines"])]:
                if _ANY_WORD.search(line):
                    yield Line(line, row["doc"], source, licence)


def _known(document: str, sources: dict[str, tuple[str, str]]) -> tuple[str, str]:
    return next((facts for begin, facts in sources.items() if document.startswith(begin)), ("unknown", "unknown"))


def _text(folder: Path, split: str) -> list[str]:
    """The first lines of a split: documents stand in the order of a hash, so they are a fair sample."""
    plain = folder / f"{split}.txt"
    packed = plain.with_name(f"{plain.name}.xz")
    with plain.open(encoding="utf-8") if plain.exists() else lzma.open(packed, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, MOST_LINES)]


def chosen(candidates: list[Line], wanted: list[tuple[str, str, int]], shortest: int, longest: int) -> list[Line]:
    """For each word, up to its number of sentences, never one twice, at most 3 for a word from one document."""
    by_word: dict[str, list[Line]] = {word: [] for word, _, _ in wanted}
    for line in candidates:
        for word in by_word.keys() & set(line.text.split()) if _fits(line, shortest, longest) else ():
            by_word[word].append(line)
    taken: dict[str, Line] = {}
    for word, beside, count in wanted:
        found, documents = 0, {}
        pattern = re.compile(rf"\b({beside})" if beside and beside.isascii() else beside)
        for line in by_word[word]:
            if found == count:
                break
            if line.text in taken or documents.get(line.document, 0) == 3 or not pattern.search(line.text):
                continue
            documents[line.document] = documents.get(line.document, 0) + 1
            taken[line.text] = line
            found += 1
        print(f"{word} {beside}: {found}")
    return sorted(taken.values(), key=lambda line: line.text)


def shuffled(held_out: Iterator[Line], training: Iterator[Line]) -> list[Line]:
    """Each part in an order of its own."""
    parts = [list(held_out), list(training)]
    for part in parts:
        random.Random(14).shuffle(part)
    return parts[0] + parts[1]


def _fits(line: Line, shortest: int, longest: int) -> bool:
    tokens = line.text.split()
    licensed = _LICENCES.search(line.licence) and not _NOT_LICENCES.search(line.licence)
    sound = tokens[-1] in {".", "!", "?"} and line.text.count('"') % 2 == 0 and "/" not in line.text
    return bool(licensed and sound and shortest <= len(tokens) <= longest and not _UNWANTED.search(line.text))


def main(data: Path, output: Path) -> None:
    """Writes the two texts and their sources."""
    output.mkdir(parents=True, exist_ok=True)
    held_out, train = ("valid", "test"), ("train",)
    english = shuffled(
        (line for name in ("lm-en", "lm-en-modern") for line in lines(data / name, held_out)),
        (line for name in ("lm-en", "lm-en-modern") for line in lines(data / name, train)),
    )
    korean = shuffled(
        lines(data / "lm-ko", held_out, KOREAN_SOURCES),
        (line for name in ("lm-ko", "lm-ko-more") for line in lines(data / name, train, KOREAN_SOURCES)),
    )
    texts = {"senses-en.txt": chosen(english, ENGLISH, 6, 24), "senses-ko.txt": chosen(korean, KOREAN, 4, 16)}
    with (output / "SOURCES.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, escapechar="\\")
        table.writerow(["file", "source", "document", "licence", "lines"])
        for name, found in texts.items():
            (output / name).write_text("".join(f"{line.text}\n" for line in found), encoding="utf-8")
            documents: dict[tuple[str, str, str], list[int]] = {}
            for number, line in enumerate(found, 1):
                documents.setdefault((line.source, line.document, line.licence), []).append(number)
            for facts, numbers in sorted(documents.items()):
                table.writerow([name, *facts, " ".join(map(str, numbers))])
            print(name, len(found), "sentences,", sum(len(line.text.split()) for line in found), "tokens")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
