"""LayerStore: the layers an encoder gave for sentences, remembered on disk, so that no epoch computes them again.

CACHE/layers-2-<hash of the encoder>-<dtype>/
    part-<hash of its sentences>/
        layers.npy    (positions, layers, dim) memory-mapped; a sentence's positions are contiguous, boundaries included
        index.npz     digests (sentences, 16): which sentences; offsets (sentences + 1,): where they begin
        sha256.json   the checksums of both, compared when the part is first read from

A part appears whole or not at all and is never changed, so any number of runs may read and add at the same time: what
two of them computed at once is there twice, which costs space only.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float

from elmo.disk.arrays import mapped, read_npz
from elmo.disk.atomic import new_folder
from elmo.disk.bounded import open_regular
from elmo.disk.sums import SUMS_FILE, what_changed, write_sums
from elmo.embed.encoder import Encoder, Sentence
from elmo.errors import OutputError, WeightFileError

StoredType = Literal["float32", "float16"]

# 1 had no checksums.
_VERSION = 2
_PARTS = frozenset({"layers.npy", "index.npz", SUMS_FILE})
_DIGEST_BYTES = 16


class LayerStore:
    """The remembered layers of one encoder, for which the same sentence always has the same vectors."""

    def __init__(self, cache: Path, encoder: Encoder, dtype: StoredType = "float32") -> None:
        """`cache`: a folder that any number of encoders may share; it is made when something is added."""
        kind = "" if encoder.keep_boundaries else "-0-boundaries"
        self.folder = cache / f"layers-{_VERSION}-{encoder.model_hash[:16]}-{dtype}{kind}"
        self.dtype: StoredType = dtype
        self._boundaries = 2 * encoder.keep_boundaries
        self._of_position = encoder.num_layers, encoder.layer_dim
        self._places: dict[bytes, tuple[Path, Float[np.ndarray, "positions layers dim"], int, int]] = {}
        self._opened: set[Path] = set()
        self._unchecked: set[Path] = set()
        self.refresh()

    def refresh(self) -> None:
        """Sees what other runs have added."""
        for part in sorted(self.folder.glob("part-*")):
            if part not in self._opened:
                self._open(part)

    def missing(self, sentences: Iterable[Sentence]) -> list[list[str]]:
        """The sentences that aren't remembered, each once, the shortest first."""
        wanted = {digest(sentence): list(sentence) for sentence in sentences}
        return sorted((sentence for key, sentence in wanted.items() if key not in self._places), key=len)

    def read(self, sentence: Sentence) -> Float[np.ndarray, "positions layers dim"] | None:
        """Of a sentence, its boundaries included, a view of the file; None: not remembered.

        WeightFileError if the part that holds it was changed since it was written.
        """
        place = self._places.get(digest(sentence))
        if place is None:
            return None
        part, layers, start, end = place
        if part in self._unchecked:
            if changed := what_changed(part, needs_sums=True):
                raise self._damaged(part, changed)
            self._unchecked.remove(part)
        return layers[start:end]

    def add(
        self,
        sentences: Sequence[Sentence],
        arrays: Iterable[Float[np.ndarray, "layers positions dim"]],
        *,
        on_stored: Callable[[int], None] = lambda _: None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        """Remembers `arrays`, one for each of the sentences, in their order.

        `on_stored`: called with the number of tokens of each. `poll`: called before each; if it raises, nothing is
        remembered.
        """
        digests = [digest(sentence) for sentence in sentences]
        offsets = np.cumsum([0, *(len(sentence) + self._boundaries for sentence in sentences)])
        part = self.folder / f"part-{hashlib.sha256(b''.join(digests)).hexdigest()[:16]}"
        shape = (int(offsets[-1]), *self._of_position)
        size = int(np.prod(shape)) * np.dtype(self.dtype).itemsize
        try:
            with new_folder(part, size=size, force=False, replaceable=_PARTS) as unfinished:
                file = np.lib.format.open_memmap(unfinished / "layers.npy", mode="w+", dtype=self.dtype, shape=shape)
                for sentence, start, end, array in zip(sentences, offsets[:-1], offsets[1:], arrays, strict=True):
                    poll()
                    file[start:end] = array.transpose(1, 0, 2)
                    on_stored(len(sentence))
                file.flush()
                np.savez(
                    unfinished / "index.npz",
                    digests=np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _DIGEST_BYTES),
                    offsets=offsets,
                )
                write_sums(unfinished, ["layers.npy", "index.npz"])
        except OutputError:
            if not part.exists():  # otherwise another run has just added the same
                raise
            self._open(part)
        else:
            self._open(part)
            self._unchecked.remove(part)  # just written, so there is nothing to check

    def _open(self, part: Path) -> None:
        try:
            with open_regular(part / "index.npz") as file:
                index = read_npz(file)
                digests, offsets = index["digests"], index["offsets"]
            layers = mapped(part / "layers.npy", self.dtype, (int(offsets[-1]), *self._of_position))
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise self._damaged(part, str(error)) from None
        self._opened.add(part)
        self._unchecked.add(part)
        for key, start, end in zip(map(bytes, digests), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            self._places.setdefault(key, (part, layers, start, end))

    def _damaged(self, part: Path, why: str) -> WeightFileError:
        return WeightFileError(
            f"{part}: can't be used as remembered layers ({why}): it was damaged or changed. Remove the folder; its "
            "layers are computed again."
        )


def digest(sentence: Sentence) -> bytes:
    """A 16-byte key of a tokenized sentence."""
    text = json.dumps(list(sentence)).encode("ascii")
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest()
