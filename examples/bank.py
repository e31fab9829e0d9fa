"""Embed a text file and compare the vectors of "bank" in different sentences.

python examples/bank.py
"""

from pathlib import Path

import numpy as np

from elmo import Embedder
from elmo.cli.main import main as elmo
from elmo.embed.storage.readers import read_vectors

TEXT = Path(__file__).with_name("bank.txt")
OUTPUT = Path("demo-output/vectors.hdf5")


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine similarity of two vectors: 1 if they point in the same direction."""
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def main() -> int:
    """Embed the file through the command line, read the vectors back, compare the banks."""
    OUTPUT.parent.mkdir(exist_ok=True)
    if status := elmo(["embed", str(TEXT), "-o", str(OUTPUT), "--force"]):
        return status
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    vectors = list(read_vectors(OUTPUT))
    print(f"{OUTPUT}: {len(vectors)} lines; line 0 has shape {vectors[0].shape} (layers, tokens, dimensions)")
    banks = {
        line: array[:, line.split().index("bank")]
        for line, array in zip(lines, vectors, strict=True)
        if "bank" in line.split()
    }
    money, *others = banks
    print(f'\nHow near is "bank" in "{money}" to "bank" in\n')
    print(f"{'layer 0':>9}{'layer 1':>9}{'layer 2':>9}")
    for other in others:
        row = [cosine(banks[money][layer], banks[other][layer]) for layer in range(len(vectors[0]))]
        print("".join(f"{value:9.3f}" for value in row), f"  {other}")
    print("\nLayer 0 sees the word alone; the layers above it see the sentence.")
    same = Embedder.from_pretrained().embed([money])[0]
    print(f"Computed from Python: equal to the file within {np.abs(same - vectors[0]).max():.1g}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
