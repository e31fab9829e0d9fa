"""Adding a biLM's two directions in place of joining them, measured by the probes of tables 5 and 6.

    python paper/scripts/joined_directions.py pos|wsd DATA OUT.json [--model small-en] [--sentences N]

DATA as for analyses.sh: pos/ud-en-ewt/{train,dev,test}.conllu.xz, wsd/semcor/semcor.data.xml.xz with its keys,
wsd/sense-inventory.tsv.xz, and the test sets wsd/eval/*-amended.data.xml. --sentences: of the training treebank, its
first N. An average is half of the sum: no cosine differs, and a linear probe's only by its penalty.
docs/how-elmo-works.md has the figures.
"""

import argparse
import lzma
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from elmo import Embedder
from elmo.analysis.record import begun
from elmo.disk.json_file import write_json
from elmo_paper.analysis.probes.experiment import Measures, Treebanks, probe_table
from elmo_paper.analysis.senses.experiment import sense_table
from elmo_paper.analysis.senses.files import SenseFiles

TESTS = ("senseval2", "senseval3", "semeval2013")


class Summed:
    """The forward half of each layer plus the backward half: half as many numbers."""

    def __init__(self, joined: "Kept") -> None:
        self.joined = joined
        self.num_layers, self.layer_dim, self.keep_boundaries = joined.num_layers, joined.layer_dim // 2, False
        self.model_hash = joined.model_hash

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[np.ndarray]:
        """(layers, tokens, dim / 2) of each sentence."""
        for layers in self.joined.embed_iter(sentences):
            yield layers[..., : self.layer_dim] + layers[..., self.layer_dim :]


class Kept:
    """The layers as they are, computed once for each sentence: 3 GB of them for SemCor with its tests in float16."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.known = embedder, {}
        self.num_layers, self.layer_dim, self.keep_boundaries = embedder.num_layers, embedder.layer_dim, False
        self.model_hash = embedder.model_hash

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[np.ndarray]:
        """(layers, tokens, dim) of each sentence."""
        asked = [tuple(sentence) for sentence in sentences]
        new = [one for one in dict.fromkeys(asked) if one not in self.known]
        for one, layers in zip(new, self.embedder.embed_iter(new), strict=True):
            self.known[one] = layers.astype(np.float16)
        for one in asked:
            yield self.known[one].astype(np.float32)


def main() -> None:
    """Measures and writes the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probe", choices=["pos", "wsd"])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", default="small-en")
    parser.add_argument("--sentences", type=int)
    given = parser.parse_args()
    embedder = Embedder.from_pretrained(given.model)
    joined = Kept(embedder)
    encoders = {"joined": joined, "added": Summed(joined)}
    banks = [given.data / "pos" / "ud-en-ewt" / f"{part}.conllu.xz" for part in ("train", "dev", "test")]
    senses = SenseFiles(
        given.data / "wsd" / "semcor" / "semcor.data.xml.xz",
        tuple(given.data / "wsd" / "eval" / f"{name}-amended.data.xml" for name in TESTS),
        given.data / "wsd" / "sense-inventory.tsv.xz",
    )
    files = {"pos": {"treebanks": banks}, "wsd": senses.by_name()}[given.probe]
    beginning = begun(
        f"joined directions: {given.probe}",
        encoders={"model": given.model, "model_hash": embedder.model_hash, "dtype": embedder.dtype},
        data=files,
        settings={"tags": "xpos", "sentences": given.sentences} if given.probe == "pos" else {},
        command=["python", "paper/scripts/joined_directions.py", given.probe, "DATA", given.out.name],
    )
    if given.probe == "pos":
        with tempfile.TemporaryDirectory() as folder:
            train = Path(folder) / "train.conllu"
            with lzma.open(banks[0]) as file:
                sentences = file.read().decode("utf-8").split("\n\n")[: given.sentences]
            train.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
            measures = Measures(control=False, code=False)
            found = probe_table(Treebanks(train, *banks[1:]), encoders, measures=measures, progress=True)
    else:
        found = sense_table(senses, encoders, progress=True)
    write_json(given.out, beginning | found.record())


if __name__ == "__main__":
    main()
