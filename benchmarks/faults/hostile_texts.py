"""Hostile documents through `embed_corpus`, beside an oracle that reads them in its own way (E3).

    python benchmarks/faults/hostile_texts.py --documents 5000

Random documents of bad UTF-8, NUL, lone surrogates, byte order marks, CR and CRLF, Unicode's other line ends, combining
marks, right-to-left text, emoji, words of thousands of characters, lines of thousands of words, blank lines and lines
without an end, and a few very big ones; each into a random format, with bad lines refused or skipped. What must come is
every line with its tokens and vectors, or an error that names file and line; and nothing left behind.
"""

import random
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import tiny_run
import torch
from peak_memory import peak_memory
from record import Record, Table, parser

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.errors import ElmoError, TextError

FORMATS = ("hdf5", "npy", "parquet")
PIECES = (
    "the", "bank", "a" * 60, "é", "밥을", "👩‍👩‍👧", "\u202eabc", "a\u0301\u0301", "\u2028", "\u0085", "\x0c", "\x00",
    "\x1c", "\ufeff", "\u00a0", "\u3000", "<S>", "</S>", "0", "1/2", "\t", "\r", "  ",
)  # fmt: skip
BAD_BYTES = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x80", b"\xe9 ", b"\xc0\xaf")
LINE_ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"\r", b"\n \n")
BAD = ("wrong lines or lengths", "wrong vectors", "another exception", "no line named", "left behind")
OUTCOMES = ("right", "refused, line named", "refused as empty", "refused as binary", *BAD)
CONTROLS = set(range(32)) - set(b"\t\n\v\f\r\x1b")
TOLERANCE = 2e-5


def main() -> int:
    """Runs them all and writes the record; exit code 1 if one ended badly."""
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=int, default=5000)
    arguments.add_argument("--no-big", action="store_true", help="leave the very big documents out")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    embedder, chance = Embedder(tiny_run.tiny_model()), random.Random(given.seed)
    kinds = {"random": (_document(chance) for _ in range(given.documents))}
    if not given.no_big:
        kinds["very big"] = _big_documents(chance)
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, documents in kinds.items():
            found: Counter[str] = Counter()
            for document in documents:
                found[_tried(document, embedder, Path(folder), chance)] += 1
                if found.total() % 500 == 0:
                    print(f"{kind}: {found.total()}", file=sys.stderr, flush=True)
            rows.append([kind, found.total(), *(found[outcome] for outcome in OUTCOMES)])
            bad += sum(found[outcome] for outcome in BAD)
    total = sum(row[1] for row in rows)
    sentence = (
        f"{total} documents: {total - bad} gave every line with its tokens and vectors, or an error that names the "
        f"line; {bad} anything else. Peak memory {peak_memory() / 1e9:.2f} GB, the oracle's included."
    )
    table = Table(["documents", "number", *OUTCOMES], rows)
    Record("fault-texts", "Faults: hostile documents (E3)", [table], sentence).write(given.results)
    return 1 if bad else 0


def _document(chance: random.Random) -> bytes:
    lines = []
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 8, 20))):
        pieces = [_piece(chance) for _ in range(chance.choice((0, 1, 2, 3, 5, 9, 30)))]
        if chance.random() < 0.1:
            pieces.insert(chance.randint(0, len(pieces)), chance.choice(BAD_BYTES))
        lines.append(chance.choice((b" ", b" ", b"", b"\t")).join(pieces) + chance.choice(LINE_ENDS))
    document = b"".join(lines)
    if chance.random() < 0.1:
        document = b"\xef\xbb\xbf" + document
    if chance.random() < 0.2:
        document = document.rstrip(b"\n")
    return document


def _piece(chance: random.Random) -> bytes:
    kind = chance.random()
    if kind < 0.01:
        return "xé밥"[chance.randrange(3)].encode() * chance.choice((100, 5_000))
    if kind < 0.015:
        return b"w " * 2_000
    if kind < 0.1:
        return chr(chance.choice((chance.randrange(32, 0xD800), chance.randrange(0xE000, 0x110000)))).encode()
    return chance.choice(PIECES).encode()


def _big_documents(chance: random.Random) -> Iterator[bytes]:
    yield b"x" * 10**6
    yield ("é" * 10**6).encode()
    yield b"word " * 10**5
    yield b"\n" * 10**4
    yield b"a b\n" * 10**4
    yield bytes(10**6)
    yield b"ok\n" + chance.randbytes(10**6)
    yield "\n".join(chance.choice(PIECES[:9]) * chance.randrange(9) for _ in range(10**4)).encode()


def _expected(document: bytes) -> list[list[str] | None]:
    """The tokens of each line, composed and without a byte order mark before them; None for a line that is not UTF-8
    or has a carriage return inside. Written apart from the package's readers."""
    lines = document.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    found: list[list[str] | None] = []
    for line in lines:
        try:
            text = line.decode("utf-8-sig")
        except UnicodeDecodeError:
            found.append(None)
            continue
        text = text.rstrip("\r")
        found.append(None if "\r" in text else unicodedata.normalize("NFC", text).split())
    return found


def _tried(document: bytes, embedder: Embedder, folder: Path, chance: random.Random) -> str:
    text, output = folder / "text.txt", folder / f"out.{chance.choice(FORMATS)}"
    text.write_bytes(document)
    errors = chance.choice(("strict", "skip"))
    expected = _expected(document)
    outcome = _outcome(text, output, errors, expected, embedder)
    allowed = {text, *folder.glob(f"{output.name}*")} if outcome == "right" else {text}
    is_tidy = set(folder.iterdir()) == allowed and not output.with_name(output.name + ".partial").exists()
    for path in folder.iterdir():
        path.unlink()
    if outcome in BAD:
        print(f"{outcome}: {errors} {output.suffix} {document[:200]!r}", flush=True)
    return outcome if is_tidy else "left behind"


def _outcome(text: Path, output: Path, errors: str, expected: list[list[str] | None], embedder: Embedder) -> str:
    bad_lines = [number for number, tokens in enumerate(expected, start=1) if tokens is None]
    try:
        given = {"format": "text", "tokenizer": "whitespace", "plain_quotes": False}
        report = embed_corpus(embedder, text, output, errors=errors, forget_sentences=False, **given)
    except TextError as error:
        if not expected:
            return "refused as empty" if "is empty" in str(error) else "another exception"
        if "is a binary file" in str(error) and sum(map(CONTROLS.__contains__, text.read_bytes())) >= 8:
            return "refused as binary"
        why = re.escape(f"{text}:{bad_lines[0]}: ") + "(not valid UTF-8|.*carriage return)" if bad_lines else ""
        is_named = errors == "strict" and bad_lines and re.search(why, str(error))
        return "refused, line named" if is_named else "no line named"
    except ElmoError as error:
        print(error)
        return "another exception"
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return "another exception"
    if not expected or (bad_lines and errors == "strict") or len(report["bad_lines"]) != len(bad_lines):
        return "wrong lines or lengths"
    sentences = [tokens or [] for tokens in expected]
    with read_vectors(output) as vectors:
        if [array.shape[1] for array in vectors] != list(map(len, sentences)):
            return "wrong lines or lengths"
        for found, array in zip(vectors, embedder.embed_iter(sentences), strict=True):
            if not np.allclose(found, array, rtol=0, atol=TOLERANCE):
                return "wrong vectors"
    return "right"


if __name__ == "__main__":
    raise SystemExit(main())
