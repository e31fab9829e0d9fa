"""FrozenLayers: the layers of sentences from a biLM that isn't trained, computed once and read from disk afterwards."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from elmo.embed.embedder import Embedder
from elmo.embed.windows import windows
from elmo.model.bilm import BiLM, BiLMOutput
from elmo.tasks.tokens.layer_store import LayerStore, Sentence, StoredType

# Tokens that go to the disk together: work that is lost when a run is killed.
_PART_TOKENS = 100_000


class FrozenLayers:
    """A frozen biLM whose answers are remembered, in `cache` if there is one. It may be shared by many models."""

    def __init__(
        self,
        bilm: BiLM,
        *,
        cache: Path | None = None,
        dtype: StoredType = "float32",
        compute: str = "float32",
    ) -> None:
        """`dtype`: how layers are stored; float16 halves the files and is exact to about 1 part in 2,000.

        `compute`: what the factors of the biLM's products are rounded to, see `Embedder`; with a cache only float32.
        """
        self.bilm = bilm.requires_grad_(False)
        self._embedder = Embedder(bilm, keep_boundaries=True, dtype=compute if cache is None else "float32")
        self.model_hash = self._embedder.model_hash
        self.store: LayerStore | None = None
        if cache is not None:
            self.store = LayerStore(
                cache,
                model_hash=self.model_hash,
                num_layers=self._embedder.num_layers,
                dim=self._embedder.layer_dim,
                dtype=dtype,
            )

    def remember(
        self, sentences: Iterable[Sentence], *, quiet: bool = False, poll: Callable[[], None] | None = None
    ) -> int:
        """Computes and stores what the store doesn't have yet; how many sentences that were. No store: nothing.

        `poll` is called before each sentence; what it raises ends the work. The finished parts of it stay.
        """
        if self.store is None:
            return 0
        self.store.refresh()
        missing = self.store.missing(sentences)
        if missing:
            tokens = sum(map(len, missing))
            with tqdm(
                total=tokens, desc="biLM layers, once", unit=" tokens", unit_scale=True, disable=quiet, file=sys.stderr
            ) as bar:
                for part in windows(missing, len(missing), _PART_TOKENS):
                    self.store.add(part, self._computed(part, bar.update, poll))
        return len(missing)

    def batch(self, sentences: Sequence[Sentence], device: torch.device | str = "cpu") -> BiLMOutput:
        """All layers of a batch, as `BiLM.contextualize` gives them, boundaries included."""
        arrays = [None if self.store is None else self.store.read(sentence) for sentence in sentences]
        unknown = [row for row, array in enumerate(arrays) if array is None]
        for row, array in zip(unknown, self._embedder.embed([sentences[row] for row in unknown]), strict=True):
            arrays[row] = array.transpose(1, 0, 2)
        lengths = [len(sentence) + 2 for sentence in sentences]
        shape = (self._embedder.num_layers, len(sentences), max(lengths, default=2), self._embedder.layer_dim)
        layers = np.zeros(shape, np.float32)
        for row, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
            assert array is not None
            layers[:, row, :length] = array.transpose(1, 0, 2)
        mask = torch.arange(shape[2])[None, :] < torch.tensor(lengths, dtype=torch.int64)[:, None]
        return BiLMOutput(torch.from_numpy(layers).to(device), mask.to(device), self.bilm.zero_state(0))

    def _computed(
        self, sentences: Sequence[Sentence], tell: Callable[[int], object], poll: Callable[[], None] | None
    ) -> Iterator[np.ndarray]:
        for sentence, array in zip(sentences, self._embedder.embed_iter(sentences), strict=True):
            if poll is not None:
                poll()
            tell(len(sentence))
            yield array
