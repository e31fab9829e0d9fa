"""Embedder: sentences in, arrays out.

sentences -> number_tokens   distinct tokens and each sentence's places among them
          -> TokenTable      one vector for each distinct token, remembered across calls
          -> bucket, pad     batches of similar length, bounded in tokens
          -> contextualize   all layers, from the state the policy says
          -> LayerChoice     what was asked for, cut to each sentence's own length
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, overload

import numpy as np
import torch
from torch import Tensor

from elmo.disk.atomic import new_file
from elmo.embed.compute import chosen_type, products_by
from elmo.embed.layer_choice import LayerChoice, Layers
from elmo.embed.pieces import contextualize_in_pieces
from elmo.embed.results.output import OutputType, as_output, checked_output
from elmo.embed.results.pooling import Pool, checked_pool, normalized, pooled
from elmo.embed.results.progress import Progress, shown
from elmo.embed.row_states import RowStates, checked_state
from elmo.embed.tokens.cache import DEFAULT_BYTES
from elmo.embed.tokens.table import TokenTable
from elmo.embed.windows import windows
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM, BiLMOutput, BiLMState
from elmo.ops.product import ComputeType
from elmo.ops.product.version import weight_version
from elmo.process.device import chosen_device
from elmo.text.batches import Batch, bucket, number_tokens, pad
from elmo.text.sentence_checks import checked_count, checked_sentences, checked_stream
from elmo.weights import formats, hub
from elmo.weights.checkpoint import content_hash
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native.names import WARM_STATE_FILE
from elmo.weights.native.read import read as read_checkpoint
from elmo.weights.native.tensor_file import write_tensors

if TYPE_CHECKING:
    import pandas

StatePolicy = Literal["zero", "warm", "carry"]
Sentences = Iterable[str | Sequence[str]]

WINDOW_SENTENCES = 512
"""Sentences `embed_iter` and `embed_corpus` take at a time."""
CARRY_ROWS = 64
"""Rows of a batch in carry mode: the batch size of AllenNLP's `elmo` command."""

# Tokens of a batch, padding counted. On a processor more brings nothing; a GPU wants more rows at once.
_MAX_TOKENS = {"cpu": 2048}
_MAX_TOKENS_ELSEWHERE = 16_384
_WINDOW_BATCHES = 8


class Embedder:
    """A biLM with everything around it that turns lists of tokens into arrays of their own length.

    `state`: the state that every sentence starts from.
        "zero"   zeros: a sentence always has the same vectors, regardless of the other sentences in the call
        "warm"   the fixed state `warm_state`: as reproducible as "zero", and warmed up
        "carry"  as the originals: a call is one batch, and row i continues row i of the call before
    `warm_state`: `hidden` (layers, projections) and `cell` (layers, cells), as `warm_up` makes it.
    `keep_boundaries`: whether the vectors of <S> and </S> are kept around each sentence's.
    `dtype`: what the factors of matrix products are rounded to; everything else is float32. "float32"; "bfloat16";
        "int8" (bfloat16 in the token encoder); "auto": bfloat16 where the processor and the native library have it,
        else float32. `self.dtype` and `describe()` say what was chosen.
    `max_tokens`: tokens in a batch, padding included (default: 2,048 on a CPU, 16,384 elsewhere). Longer sentences are
        batches of their own, and are read in pieces of that size without changing their vectors.
    `cache_bytes`: memory for token vectors remembered across calls; 0: none. It never changes a result.

    Any number of threads may call `embed`, `embed_iter` and `describe` of one Embedder at once: the vectors are those
    of one thread, bit for bit. Only in carry mode do calls depend on their order; one that begins while another is
    still running is refused with a ConfigError. Changing the weights while another thread embeds is not supported.
    """

    def __init__(
        self,
        bilm: BiLM,
        *,
        state: StatePolicy = "zero",
        warm_state: Mapping[str, np.ndarray] | None = None,
        dtype: str = "float32",
        keep_boundaries: bool = False,
        max_tokens: int | None = None,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> None:
        if state not in get_args(StatePolicy):
            raise ConfigError(f"state must be one of zero, warm and carry, but is {state!r}.")
        if state == "warm" and warm_state is None:
            raise ConfigError(_NO_WARM_STATE)
        _require_float32(bilm)
        self.bilm = bilm.eval()
        self.dtype: ComputeType = chosen_type(dtype, bilm.device)
        self.state: StatePolicy = state
        self.keep_boundaries = keep_boundaries
        default = _MAX_TOKENS.get(bilm.device.type, _MAX_TOKENS_ELSEWHERE)
        self.max_tokens = default if max_tokens is None else checked_count(max_tokens, "max_tokens", "tokens")
        self.source = "a model in memory"
        self._tokens = TokenTable(bilm, _checked_bytes(cache_bytes), self.dtype)
        self._carried = RowStates(bilm)
        self._hashed: tuple[object, str] | None = None
        self._warm: BiLMState | None = None  # of one row
        if warm_state is not None:
            hidden, cell = checked_state(warm_state, bilm, with_rows=False)
            self._warm = BiLMState(hidden[:, None], cell[:, None])

    @classmethod
    def from_pretrained(
        cls,
        model: hub.Model = None,
        *,
        device: str = "auto",
        dtype: str = "float32",
        state: StatePolicy = "zero",
        warm_state: Mapping[str, np.ndarray] | None = None,
        **settings: Any,
    ) -> Self:
        """Load a model: a name, folder, file or hub id, or a pair (options.json, weights.hdf5).

        None: the model named by the environment variable ELMO_MODEL, else the bundled one.
        `device`: "auto" takes a GPU if there is one; or any torch device. `warm_state`: default: the one
        stored with the model. `dtype`, `settings`: see the class.
        Raises WeightFileError if there is no sound model, ConfigError for impossible settings.
        """
        place = chosen_device(device)
        chosen_type(dtype, place)  # before a large model is read
        checkpoint = formats.read(hub.resolve(model))
        warm_state = checkpoint.warm_state if warm_state is None else warm_state
        if state == "warm" and warm_state is None:
            raise ConfigError(_NO_WARM_STATE)
        bilm = BiLM.from_checkpoint(checkpoint).to(place).requires_grad_(False)
        embedder = cls(bilm, dtype=dtype, state=state, warm_state=warm_state, **settings)
        embedder.source = checkpoint.source_format
        return embedder

    @property
    def num_layers(self) -> int:
        """Layers of the result, the token layer included."""
        return self.bilm.config.num_layers + 1

    @property
    def layer_dim(self) -> int:
        """Dimensions of a token's vector in one layer."""
        return self.bilm.config.output_dim

    @property
    def model_hash(self) -> str:
        """SHA-256 over the weights, equal for equal weights of any format (`content_hash` of the checkpoint).

        Computed at the first use (0.3 s for a published model) and again when a weight was changed or trained.
        """
        version, hashed = [weight_version(tensor) for tensor in self.bilm.parameters()], self._hashed
        if hashed is None or hashed[0] != version:
            hashed = self._hashed = version, content_hash(self.bilm.to_checkpoint())
        return hashed[1]

    @property
    def window_tokens(self) -> int:
        """Tokens that `embed_iter` and `embed_corpus` take at a time at most."""
        return _WINDOW_BATCHES * self.max_tokens

    def describe(self) -> dict[str, Any]:
        """What this embedder is, as plain values for JSON."""
        cache = self._tokens.cache
        return {
            "source_format": self.source,
            "model_hash": self.model_hash,
            "num_layers": self.num_layers,
            "layer_dim": self.layer_dim,
            "device": str(self.bilm.device),
            "dtype": self.dtype,
            "products": products_by(self.dtype, self.bilm.device),
            "state": self.state,
            "state_hash": self.state_hash,
            "keep_boundaries": self.keep_boundaries,
            "max_tokens": self.max_tokens,
            "cache": {"words": len(cache), "capacity": cache.capacity, "hits": cache.hits, "misses": cache.misses},
        }

    @property
    def state_hash(self) -> str | None:
        """SHA-256 over the warm state, if sentences start from it."""
        return fingerprint(self.warm_state) if self.state == "warm" and self.warm_state else None

    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: None = None,
        normalize: bool = False,
        progress: Progress = False,
        output: Literal["numpy"] = "numpy",
    ) -> list[np.ndarray]: ...
    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool,
        normalize: bool = False,
        progress: Progress = False,
        output: Literal["numpy"] = "numpy",
    ) -> np.ndarray: ...
    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: None = None,
        normalize: bool = False,
        progress: Progress = False,
        output: Literal["torch"],
    ) -> list[Tensor]: ...
    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool,
        normalize: bool = False,
        progress: Progress = False,
        output: Literal["torch"],
    ) -> Tensor: ...
    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool | None = None,
        normalize: bool = False,
        progress: Progress = False,
        output: Literal["pandas"],
    ) -> "pandas.DataFrame": ...
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool | None = None,
        normalize: bool = False,
        progress: Progress = False,
        output: OutputType = "numpy",
    ) -> Any:
        """The vectors of every token, or with `pool` of every sentence, in float32.

        `sentences`: each a list of tokens, or a string that is split on whitespace. An empty sentence has 0 tokens; an
        empty string among the tokens is a token like any other. Sentences of one word are written as lists,
        [["yes"], ["no"]]: a flat list of words could as well be one sentence, and is refused.
        `layers`: "all" -> (layers, tokens, dim). All others -> (tokens, dim): "average"; "top"; an index, 0 the token
        layer, negative ones from the top; a list of weights, one for each layer, taken as they are (no softmax).
        `pool`: "mean", "max", "first", "last" or "first_last" (see `elmo.embed.results.pooling`): one vector for each
        sentence; a sentence without tokens has zeros.
        `normalize`: divide each vector by its L2 norm, after pooling.
        `progress`: True shows a bar on standard error; a function is called with the tokens done and all tokens.
        `output`: "numpy"; "torch": tensors on the CPU; "pandas": a table (see below).
        Returns, without `pool`, a list with one array for each sentence, of exactly its length; with `pool`, one array
        (sentences, dim), or (sentences, layers, dim) of all layers. A table has a row for each token, with the columns
        sentence, position, token and vector; or with `pool` for each sentence: sentence, tokens, vector.
        In carry mode the sentences are the rows of one batch, in this order.
        Raises ConfigError for what is no sentence, naming its place, for layers that the model doesn't have, and in
        carry mode while another thread's call is running; MissingExtraError for a table without pandas.
        """
        choice = LayerChoice.of(layers, self.num_layers)
        pool, output = checked_pool(pool), checked_output(output)
        checked = checked_sentences(sentences)
        with shown(progress, sum(map(len, checked))) as tell:
            arrays = self._embed(checked, choice, pool, tell)
        arrays = [normalized(array) for array in arrays] if normalize else arrays
        empty = np.zeros((0, *([self.num_layers] if choice.keeps_all else []), self.layer_dim), np.float32)
        tokens = [self._with_boundaries(sentence) for sentence in checked] if output == "pandas" else checked
        return as_output(arrays, tokens, output, is_pooled=pool is not None, empty=empty)

    def embed_iter(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        window: int | None = None,
        pool: Pool | None = None,
        normalize: bool = False,
    ) -> Iterator[np.ndarray]:
        """The arrays of `embed`, one by one in input order, in constant memory.

        `window`: sentences taken at a time (default 512), fewer if they are long. In carry mode it is the number of
        rows of each batch (default 64): sentence k continues sentence k - window.
        `layers`, `pool`, `normalize`: as in `embed`; with `pool` each array is a sentence's vector, (dim,) or
        (layers, dim).
        """
        choice = LayerChoice.of(layers, self.num_layers)
        pool = checked_pool(pool)
        size, max_tokens = self.window_limits(window)
        stream = checked_stream(sentences, size)
        arrays = (array for group in windows(stream, size, max_tokens) for array in self._embed(group, choice, pool))
        return (normalized(array) for array in arrays) if normalize else arrays

    def window_limits(self, window: int | None = None) -> tuple[int, int | None]:
        """Sentences and tokens of a window; in carry mode a window is a batch, however many tokens it has."""
        window = None if window is None else checked_count(window, "window", "sentences taken at a time")
        if self.state == "carry":
            return window or CARRY_ROWS, None
        return window or WINDOW_SENTENCES, self.window_tokens

    @torch.inference_mode()
    def warm_up(self, sentences: Sentences) -> dict[str, np.ndarray]:
        """Reads sentences one after the other in one row, from nothing; its last state becomes the warm state.

        Gives `hidden` (layers, projections) and `cell` (layers, cells), for `Embedder(bilm, state="warm",
        warm_state=...)`. A few hundred sentences like those to come are enough.
        """
        read = checked_sentences(sentences)
        if not read:
            raise ConfigError("there is no sentence to warm up with. Pass some of the kind that will be embedded.")
        places, table = self._numbered(read)
        state = self.bilm.zero_state(1)
        for row in range(len(read)):
            state = self._read(pad(places, np.array([row])), table, state).state
        self._warm = state
        warm_state = self.warm_state
        assert warm_state is not None
        return warm_state

    @property
    def warm_state(self) -> dict[str, np.ndarray] | None:
        """The state sentences start from in warm mode, if there is one."""
        if (warm := self._warm) is None:
            return None
        parts = {"hidden": warm.hidden, "cell": warm.cell}
        return {name: part[:, 0].cpu().numpy().copy() for name, part in parts.items()}

    def save_warm_state(self, folder: str | Path, *, force: bool = False) -> None:
        """Stores the warm state with a model: `folder` is a model folder of our own format, of these same weights."""
        if self._warm is None:
            raise ConfigError("there is no warm state to save. Make one first: embedder.warm_up(sentences)")
        found = content_hash(read_checkpoint(Path(folder)))
        if found != self.model_hash:
            raise ConfigError(
                f"{folder} holds other weights ({found[:12]}) than this embedder ({self.model_hash[:12]}): the state "
                "of one model means nothing to another. Name the folder this model was loaded from."
            )
        arrays = self.warm_state or {}
        size = sum(array.nbytes for array in arrays.values())
        with new_file(Path(folder) / WARM_STATE_FILE, size=size, force=force) as unfinished:
            write_tensors(unfinished, arrays, "float32")

    def forget_words(self) -> None:
        """Empties the memory of token vectors. They are computed again when needed, and come out the same."""
        self._tokens.cache.clear()

    def reset(self, rows: Sequence[int] | None = None) -> None:
        """Carry mode: forgets what was read, in some rows or in all."""
        with self._carried.alone():
            self._carried.reset(rows)

    def state_dict(self) -> dict[str, np.ndarray]:
        """Carry mode: what is remembered, `hidden` (layers, rows, projections) and `cell` (layers, rows, cells).

        Empty before the first call. As in AllenNLP, there are as many rows as the largest batch so far had.
        """
        with self._carried.alone():
            return self._carried.to_arrays()

    def load_state_dict(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Carry mode: goes on from what `state_dict` gave. Raises ConfigError for other shapes, NaN or inf."""
        with self._carried.alone():
            self._carried.load_arrays(arrays)

    @torch.inference_mode()
    def _embed(
        self,
        sentences: Sequence[Sequence[str]],
        choice: LayerChoice,
        pool: Pool | None = None,
        tell: Callable[[int], object] = lambda tokens: None,
    ) -> list[np.ndarray]:
        """The arrays of checked sentences; `tell` is called with the number of tokens of each batch when it is done."""
        if not sentences:
            return []
        _require_float32(self.bilm)
        if self.state == "carry":
            with self._carried.alone():
                arrays = self._embed_rows(*self._numbered(sentences), choice)
                tell(sum(map(len, sentences)))
                return [pooled(array, pool) for array in arrays]
        places, table = self._numbered(sentences)
        results: list[Any] = [None] * len(sentences)
        for rows in bucket([len(row) for row in places], self.max_tokens):
            batch = pad(places, rows)
            output = self._read(batch, table, self._initial(len(rows)))
            for row, array in zip(rows, self._cut(output, batch, choice), strict=True):
                results[row] = pooled(array, pool)
            tell(sum(len(sentences[row]) for row in rows))
        return results

    def _with_boundaries(self, sentence: Sequence[str]) -> Sequence[str]:
        """The tokens whose vectors a sentence has."""
        before, after = self.bilm.token_map.boundary_tokens
        return [before, *sentence, after] if self.keep_boundaries else sentence

    def _numbered(self, sentences: Sequence[Sequence[str]]) -> tuple[list[np.ndarray], Tensor]:
        """Each sentence's places among the distinct tokens, and the token vectors of these."""
        distinct, places = number_tokens(sentences, self.bilm.token_map.boundary_tokens)
        return places, self._tokens.vectors(distinct)

    def _embed_rows(self, places: Sequence[np.ndarray], table: Tensor, choice: LayerChoice) -> list[np.ndarray]:
        """Carry mode: all sentences are one batch, in the caller's order."""
        batch = pad(places, np.arange(len(places)))
        output = self._read(batch, table, self._carried.first(len(places)))
        self._carried.update(output.state)
        return list(self._cut(output, batch, choice))

    def _initial(self, rows: int) -> BiLMState | None:
        if self.state != "warm":
            return None
        warm, device = self._warm, self.bilm.device
        assert warm is not None  # checked when the embedder was made
        parts = (part.to(device).repeat(1, rows, 1) for part in (warm.hidden, warm.cell))
        return BiLMState(*parts)

    def _read(self, batch: Batch, table: Tensor, state: BiLMState | None) -> BiLMOutput:
        vectors = table[torch.from_numpy(batch.places).to(table.device)]
        lengths = torch.from_numpy(batch.lengths).to(table.device)
        rows, tokens = batch.places.shape
        if rows * tokens > self.max_tokens and not self.bilm.fused(self.dtype):
            piece = max(1, self.max_tokens // rows)
            return contextualize_in_pieces(self.bilm, vectors, lengths, state, piece, self.dtype)
        return self.bilm.contextualize(vectors, lengths, state, self.dtype)

    def _cut(self, output: BiLMOutput, batch: Batch, choice: LayerChoice) -> Iterator[np.ndarray]:
        """Each row's chosen layers, as an array with memory of its own."""
        values = choice.apply(output.layers).cpu().numpy()
        edge = 0 if self.keep_boundaries else 1
        for row, length in enumerate(batch.lengths):
            yield values[..., row, edge : length - edge, :].copy()


def _require_float32(bilm: BiLM) -> None:
    """Of the token encoder and each language model the first weight: `bilm.half()` and the like change all of them."""
    for part in (bilm.token_encoder, *bilm.lstms):
        if (dtype := next(part.parameters()).dtype) != torch.float32:
            raise ConfigError(
                f"the biLM's weights are {dtype}, but an Embedder computes from float32 weights. Convert them back "
                "with bilm.float(); to compute faster, pass dtype='bfloat16' to the Embedder."
            )


def _checked_bytes(cache_bytes: object) -> int:
    if isinstance(cache_bytes, bool) or not isinstance(cache_bytes, int | np.integer) or cache_bytes < 0:
        raise ConfigError(
            f"cache_bytes is {cache_bytes!r}, but must be an integer of at least 0: bytes for token vectors to "
            "remember. Leave it out for the default, or pass 0 for none."
        )
    return int(cache_bytes)


_NO_WARM_STATE = (
    "state is 'warm', but the model has no warm state: nobody has made one. Make it once: embedder = "
    "Embedder.from_pretrained(MODEL); embedder.warm_up(sentences); embedder.save_warm_state(MODEL_FOLDER) - or pass "
    "what warm_up gives as warm_state."
)
