"""Do a word's nearest occurrences have its sense? Twenty words of two senses, four sentences for each sense.

    python runs/quality/two_sense_words.py [--model MODEL ...] [--list runs/quality/two_sense_words_ko.tsv]
    python runs/quality/two_sense_words.py --encoder NAME[=FILES] -o RECORD    beside the model, another encoder

The lists, `two_sense_words.tsv` (English) and `two_sense_words_ko.tsv`, were drawn up before the models they judge were
trained. For every occurrence of a word the nearest other one of the same word is looked for, by cosine: with four
sentences a sense, chance is 3 in 7, 42.9 %. A Korean word has two forms, each in two sentences of each sense; whoever
looks at the form alone is right once in 3. Prints percent right by layer as a Markdown table, and the words that the
best layer gets wrong most often. The record has each occurrence.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo import Embedder
from elmo.analysis.record import begun
from elmo.disk.json_file import write_json
from elmo.embed.encoder import Encoder, token_layers
from elmo.errors import ElmoError, TextError
from elmo.tasks.tokens.frozen_layers import find_encoder

LIST = Path(__file__).with_suffix(".tsv")
BRACKETED = re.compile(r"\[(.+)\]")


@dataclass(frozen=True)
class Occurrence:
    """A word in a sentence, and its sense there."""

    word: str
    sense: str
    tokens: list[str]
    place: int
    """Of the word in `tokens`, from 0."""


def read_list(path: Path) -> list[Occurrence]:
    """Rows of word, sense and tokenized sentence under a header line. Raises TextError for a row that is none.

    In the sentence the word is a token, or a token in brackets is a form of it: `일기를 [쓴다] .` for 쓰다.
    """
    found = []
    for number, line in enumerate(_lines(path)[1:], start=2):
        columns = line.split("\t")
        tokens = columns[-1].split()
        bracketed = [place for place, token in enumerate(tokens) if BRACKETED.fullmatch(token)]
        places = bracketed or [place for place, token in enumerate(tokens) if token == columns[0]]
        if len(columns) != 3 or len(places) != 1:
            raise TextError(
                f"{path}:{number}: no word, sense and sentence that has the word once as a token, or one token in "
                "brackets. Correct the row."
            )
        tokens[places[0]] = BRACKETED.sub(r"\1", tokens[places[0]])
        found.append(Occurrence(columns[0], columns[1], tokens, places[0]))
    times = Counter(one.word for one in found)
    alone = [word for word, count in times.items() if count == 1]
    if alone or not found:
        what = f"{alone[0]!r} occurs once" if alone else "there is no row under the header line"
        raise TextError(f"{path}: {what}, but a word is compared with its other occurrences. Add rows.")
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise TextError(f"{path}: not valid UTF-8 (byte {error.start}). Save it as UTF-8.") from None


def hits(vectors: np.ndarray, occurrences: Sequence[Occurrence]) -> np.ndarray:
    """(occurrences,) bool: whether the nearest other occurrence of the word has the same sense.

    `vectors` (occurrences, dim): of the words in one layer.
    """
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = unit @ unit.T
    words = np.array([one.word for one in occurrences])
    senses = np.array([one.sense for one in occurrences])
    similar[words[:, None] != words[None]] = -np.inf
    np.fill_diagonal(similar, -np.inf)
    return senses[similar.argmax(axis=1)] == senses


def hits_by_layer(encoder: Encoder, occurrences: Sequence[Occurrence]) -> np.ndarray:
    """(layers, occurrences) bool; a biLM's layer 0 knows the form alone."""
    embedded = token_layers(encoder, [one.tokens for one in occurrences])
    vectors = np.stack([layers[:, one.place] for layers, one in zip(embedded, occurrences, strict=True)], axis=1)
    return np.stack([hits(layer.astype(np.float64), occurrences) for layer in vectors])


def table(found: Mapping[str, np.ndarray], occurrences: Sequence[Occurrence]) -> str:
    """A row for each encoder. `found`: by name, (layers, occurrences) bool."""
    most = max(map(len, found.values()))
    names = ("model", *(f"layer {layer}" for layer in range(1, most)), "most often wrong")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for name, hits in found.items():
        best = hits[1:][hits[1:].mean(axis=1).argmax()]
        wrong = Counter(one.word for one, right in zip(occurrences, best, strict=True) if not right)
        named = ", ".join(f"{word} {count}" for word, count in wrong.most_common(4))
        cells = [f"{100 * layer.mean():.1f}" for layer in hits[1:]] + [""] * (most - len(hits))
        lines.append(f"| {name} | {' | '.join(cells)} | {named} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: printed; 2: the list or a model can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--model", action="append", help="a name, a folder or file; may be repeated (default small-en)")
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME[=FILES]", help="may be repeated")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args(arguments)
    try:
        occurrences = read_list(options.list)
        encoders: dict[str, Encoder] = {
            model: Embedder.from_pretrained(model) for model in options.model or ["small-en"]
        }
        for name, _, files in (text.partition("=") for text in options.encoder):
            encoders[name] = find_encoder(name, files, device="cpu")
        found = {name: hits_by_layer(encoder, occurrences) for name, encoder in encoders.items()}
        print(table(found, occurrences))
        if options.output:
            hashes = {name: {"hash": encoder.model_hash} for name, encoder in encoders.items()}
            first = next(iter(encoders))
            command = ["python", "runs/quality/two_sense_words.py", *sys.argv[1:]]
            record = begun(
                "two_sense_words",
                encoders={
                    "model": first,
                    "model_hash": hashes[first]["hash"],
                    "static": None,
                    "encoders": hashes,
                },
                data={"list": options.list},
                settings={},
                command=command,
            )
            rows = [
                {
                    "encoder": name,
                    "layer": layer,
                    "right": int(right.sum()),
                    "hits": "".join(map(str, right.astype(int))),
                }
                for name, layers in found.items()
                for layer, right in enumerate(layers)
            ]
            write_json(options.output, record | {"sets": {options.list.name: len(occurrences)}, "rows": rows})
    except (ElmoError, OSError) as error:
        print(f"two_sense_words: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
