"""Embedder: sentences in, arrays out.

sentences -> number_tokens   distinct tokens and each sentence's places among them
          -> TokenTable      one vector for each distinct token, remembered across calls
          -> bucket, pad     batches of similar length, bounded in tokens
          -> contextualize   all layers, from the chosen state
          -> LayerChoice     the chosen layers, cut to each sentence's own length
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from elmo.config import BiLMConfig
from elmo.embed.chosen_network import chosen_type, in_torch, network_of
from elmo.embed.network import EngineNetwork, Network
from elmo.embed.results.embedded_text import EmbeddedText, RawTexts
from elmo.embed.results.output import OutputType, as_output, require_pandas
from elmo.embed.results.pooling import Pool, normalized, pooled
from elmo.embed.states import RowStates, WarmState, require_warm_state
from elmo.embed.token_table import DEFAULT_BYTES, TokenTable
from elmo.embed.windows import windows
from elmo.engine.engine import zero_state
from elmo.errors import ConfigError
from elmo.layer_choice import LayerChoice, Layers
from elmo.ops.native.kinds import ComputeType
from elmo.process.device import device_name, require_torch
from elmo.process.progress.report import Count, Progress, following
from elmo.process.thread_lock import ThreadLock
from elmo.setting_checks import NotNegativeInt, PositiveInt, require_value
from elmo.shapes import Float, Int
from elmo.text.batches import Batch, bucket, number_tokens, pad
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import ModelReader
from elmo.text.reading.settings import Reading, SentenceEnds
from elmo.text.sentence_checks import checked_sentences, checked_stream
from elmo.text.sentences import Tokenize
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native.read import held_vocabulary

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM

StatePolicy = Literal["zero", "warm", "carry"]
Sentences = Iterable[str | Sequence[str]]

WINDOW_SENTENCES = 512
"""Sentences `embed_iter` and `embed_corpus` take at a time on a CPU."""
_WINDOW_SENTENCES_ELSEWHERE = 2048
CARRY_ROWS = 64
"""Rows of a batch in carry mode: the batch size of AllenNLP's `elmo` command."""

# Tokens of a batch; elsewhere than on a CPU padding counts too. A GPU wants more rows.
_CPU_TOKENS, _TOKENS_ELSEWHERE = 8192, 16_384
_CPU_WINDOW_BATCHES, _WINDOW_BATCHES_ELSEWHERE = 2, 8


class Embedder:
    """A biLM with batching and a cache of token vectors: turns each list of tokens into one array of the same length.

    `bilm`: a `Checkpoint`, which is computed on the CPU without torch; or a `BiLM` in torch, on its own device, whose
        weights may change between calls: each call computes from the weights as they are then, however they were
        changed.
    `state`: the state that every sentence starts from.
        "zero"   zeros: a sentence always has the same vectors, regardless of the other sentences in the call; up to
                 rounding where torch computes, on a GPU or by a biLM with hooks
        "warm"   the fixed state `warm_state`: as reproducible as "zero", and warmed up
        "carry"  as the originals: a call is one batch, and row i continues row i of the call before
    `warm_state`: `hidden` (layers, projections) and `cell` (layers, cells), as `warm_up` makes it.
    `keep_boundaries`: whether the vectors of `boundary_tokens` are kept around each sentence's.
    `dtype`: what the factors of matrix products are rounded to; everything else is float32. "float32"; "bfloat16";
        "int8" (bfloat16 in the token encoder); "auto": bfloat16 where the native library multiplies it faster on this
        processor, else float32. `self.dtype` and `describe()` show what was chosen.
    `max_tokens`: tokens in a batch (default: 8,192 on a CPU, 16,384 elsewhere, where padding counts too). A longer
        sentence is a batch of its own.
    `cache_bytes`: memory for token vectors remembered across calls; 0: none. It never changes a result.

    Any number of threads may call `embed`, `embed_iter` and `describe` of one Embedder at once: the vectors are those
    of one thread, bit for bit. Only in carry mode do calls depend on their order; one that begins while another is
    still running is refused with a ConfigError. Changing the weights while another thread embeds is not supported.
    """

    def __init__(
        self,
        bilm: "BiLM | Checkpoint",
        *,
        state: StatePolicy = "zero",
        warm_state: Mapping[str, Float[np.ndarray, "layers width"]] | None = None,
        dtype: str = "float32",
        keep_boundaries: bool = False,
        max_tokens: int | None = None,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> None:
        require_value("state", state, StatePolicy)
        require_value("max_tokens", max_tokens, PositiveInt | None)
        hub.refuse_name(bilm, "Embedder", "a BiLM or a Checkpoint")
        require_warm_state(state, warm_state)
        place = "cpu" if isinstance(bilm, Checkpoint) else str(bilm.device)
        self.dtype: ComputeType = chosen_type(dtype, place)
        network = network_of(bilm, self.dtype)
        self.state: StatePolicy = state
        self.keep_boundaries = keep_boundaries
        default = _CPU_TOKENS if place == "cpu" else _TOKENS_ELSEWHERE
        self.max_tokens = default if max_tokens is None else max_tokens
        self.source = "a model in memory"
        self.files: hub.Files | None = None
        """Where the model was loaded from: its folder, file, or pair (options.json, weights.hdf5). None: it is a model
        in memory, or was given away as `bilm`, and may have changed."""
        self._vocabulary: Sequence[str] | Callable[[], list[str]] | None = None
        require_value("cache_bytes", cache_bytes, NotNegativeInt)
        self._cache_bytes = int(cache_bytes)
        self._tokens = TokenTable(network, self._cache_bytes)
        self.config: BiLMConfig = bilm.config
        """The model's architecture."""
        self.num_layers: int = self.config.num_layers + 1
        """Layers of the result, the token layer included."""
        self.layer_dim: int = self.config.output_dim
        """Dimensions of a token's vector in one layer."""
        self._carried = RowStates(self.config)
        self._lock = ThreadLock()
        self._warm = None if warm_state is None else WarmState.of(warm_state, self.config)

    def __repr__(self) -> str:
        return (
            f"Embedder({self.source}: {self.num_layers} layers of {self.layer_dim} dimensions, device={self.device}, "
            f"dtype={self.dtype}, state={self.state})"
        )

    @classmethod
    def from_pretrained(
        cls,
        model: hub.Model | Checkpoint = None,
        *,
        device: str = "auto",
        dtype: str = "float32",
        state: StatePolicy = "zero",
        warm_state: Mapping[str, Float[np.ndarray, "layers width"]] | None = None,
        keep_boundaries: bool = False,
        max_tokens: int | None = None,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> Self:
        """Loads a model: a name, folder, file or hub id, or a pair (options.json, weights.hdf5).

        None: the model named by the environment variable ELMO_MODEL, else the bundled one. A `Checkpoint` is taken as
        it is, for instance one from `elmo.weights.formats.read`.
        `device`: "auto" takes a GPU if there is one; or any torch device. Only those other than "cpu" need torch.
        `warm_state`: default: the one stored with the model. The others: see the class.
        Raises WeightFileError if the model is missing or damaged, ConfigError for impossible settings.
        """
        place = device_name(device)
        chosen_type(dtype, place)  # before a large model is read
        files: hub.Files | None = None
        if isinstance(model, Checkpoint):
            checkpoint = model
        else:
            files = hub.resolve(model)
            checkpoint = formats.read(files, with_softmax=False, narrow=True)
        warm_state = checkpoint.warm_state if warm_state is None else warm_state
        network = checkpoint if place == "cpu" else in_torch(checkpoint, place)
        embedder = cls(
            network,
            dtype=dtype,
            state=state,
            warm_state=warm_state,
            keep_boundaries=keep_boundaries,
            max_tokens=max_tokens,
            cache_bytes=cache_bytes,
        )
        embedder.source = checkpoint.source_format
        embedder.files = files
        embedder._vocabulary = checkpoint.vocabulary
        if checkpoint.vocabulary is None and isinstance(files, Path) and files.is_dir():
            # The files may be gone or changed when it is needed, or this be in another process by then.
            embedder._vocabulary = held_vocabulary(files)
        return embedder

    @property
    def vocabulary(self) -> Sequence[str] | None:
        """The words that the model predicts, the most frequent first, if it was loaded and has them.

        Made of the file's content at the first use, since vectors don't need it. Raises TextError for a damaged list.
        """
        found = self._vocabulary
        if callable(found):
            found = self._vocabulary = found()
        return found

    @cached_property
    def reader(self) -> ModelReader:
        """Splits raw texts for this model, and gives each warning about them once. See `ModelReader`."""
        return ModelReader(Language(self.vocabulary))

    @property
    def bilm(self) -> "BiLM":
        """The network in torch, which computes from its first use on: changes of its weights change the vectors.

        Raises MissingExtraError without torch.
        """
        with self._lock.mutex:
            network: Any = self._network
            if isinstance(network, EngineNetwork):
                require_torch("the biLM of an Embedder as a torch module")
                network = network_of(in_torch(network.checkpoint, "cpu"), self.dtype)
                self._tokens = TokenTable(network, self._cache_bytes)
                self.files = None
            return network.bilm

    @property
    def checkpoint(self) -> Checkpoint:
        """The model as data, float32, without its softmax. Each access to its tensors may make them anew."""
        return self._network.checkpoint

    @property
    def _network(self) -> Network[Any]:
        return self._tokens.network

    @property
    def device(self) -> str:
        """Where it computes: "cpu", "cuda:0"."""
        return self._network.device

    @property
    def products(self) -> str:
        """What computes its products: "native" (the C library), "numpy" (a CPU without it) or "torch"."""
        return self._network.products

    @property
    def boundary_tokens(self) -> tuple[str, str]:
        """The tokens before and after every sentence: `<S>` and `</S>`, or the model's own."""
        return self._network.token_map.boundary_tokens

    @property
    def model_hash(self) -> str:
        """SHA-256 of the model, equal for equal models of any format (`content_hash` of the checkpoint).

        Of a checkpoint it is computed once (0.3 s for a published model), of a `BiLM` in torch at every access.
        """
        return self._network.model_hash()

    @property
    def window_tokens(self) -> int:
        """Tokens that `embed_iter` and `embed_corpus` take at a time at most."""
        return (_CPU_WINDOW_BATCHES if self.device == "cpu" else _WINDOW_BATCHES_ELSEWHERE) * self.max_tokens

    def describe(self) -> dict[str, Any]:
        """The model, settings and sizes, as plain values for JSON."""
        cache = self._tokens.cache
        return {
            "source_format": self.source,
            "model_hash": self.model_hash,
            "num_layers": self.num_layers,
            "layer_dim": self.layer_dim,
            "device": self.device,
            "dtype": self.dtype,
            "products": self.products,
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
        normalize: bool = False,
        progress: Progress | bool = False,
    ) -> list[Float[np.ndarray, "... dim"]]: ...
    @overload
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool | None = None,
        normalize: bool = False,
        progress: Progress | bool = False,
        output: OutputType = "numpy",
    ) -> Any: ...
    def embed(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        pool: Pool | None = None,
        normalize: bool = False,
        progress: Progress | bool = False,
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
        `progress`: receives the tokens that are done (see `elmo.Progress`); True: a bar on stderr.
        `output`: "numpy"; "torch": tensors on the CPU; "pandas": a table (see below).
        Returns, without `pool`, a list with one array for each sentence, of exactly its length; with `pool`, one array
        (sentences, dim), or (sentences, layers, dim) of all layers. A table has a row for each token, with the columns
        sentence, position, token and vector; or with `pool` for each sentence: sentence, tokens, vector.
        In carry mode the sentences are the rows of one batch, in this order.
        Raises ConfigError for what is not a sentence, naming its place, for layers that the model doesn't have, and in
        carry mode while another thread's call is running; MissingExtraError for a table without pandas.
        """
        choice = LayerChoice.of(layers, self.num_layers)
        require_value("pool", pool, Pool | None)
        require_value("output", output, OutputType)
        if output == "pandas":
            require_pandas("output='pandas'")
        checked = checked_sentences(sentences)
        with following(progress) as reported:
            embedded = Count(reported, "embedding", sum(map(len, checked)), "tokens")
            arrays = self._embed(checked, choice, pool, embedded.add)
        arrays = [normalized(array) for array in arrays] if normalize else arrays
        empty = np.zeros((0, *([self.num_layers] if choice.keeps_all else []), self.layer_dim), np.float32)
        tokens = [self.with_boundaries(sentence) for sentence in checked] if output == "pandas" else checked
        return as_output(arrays, tokens, output, is_pooled=pool is not None, empty=empty)

    @overload  # a str is an Iterable[str] too, and comes first
    def embed_text(  # pyright: ignore[reportOverlappingOverload]
        self,
        text: str,
        layers: Layers = "average",
        *,
        tokenizer: str | Tokenize = "auto",
        sentences: SentenceEnds = "within-lines",
        plain_quotes: bool = True,
        normalize: bool = False,
    ) -> EmbeddedText: ...
    @overload
    def embed_text(
        self,
        text: Iterable[str],
        layers: Layers = "average",
        *,
        tokenizer: str | Tokenize = "auto",
        sentences: SentenceEnds = "within-lines",
        plain_quotes: bool = True,
        normalize: bool = False,
    ) -> list[EmbeddedText]: ...
    def embed_text(
        self,
        text: str | Iterable[str],
        layers: Layers = "average",
        *,
        tokenizer: str | Tokenize = "auto",
        sentences: SentenceEnds = "within-lines",
        plain_quotes: bool = True,
        normalize: bool = False,
    ) -> EmbeddedText | list[EmbeddedText]:
        """The tokens of a raw text, their places in it, and their vectors.

        `text`: a string; or a list, a column of a table, an array or a generator of them, which gives a list with an
        `EmbeddedText` for each, exactly as one by one.
        `layers`: as in `embed`; "all" gives vectors (layers, tokens, dim), the others (tokens, dim).
        `tokenizer`: "auto" takes each sentence apart by rules ("unicode"), unless its own marks show that it is
        tokenized ("whitespace"); or a function from a text to a list of tokens, or its name as "module:function".
        `sentences`: "within-lines": a line can hold several; "lines": each line is one; "across-lines": they continue
        over line ends, and only blank lines end a paragraph. `plain_quotes`: whether typographic marks, full-width
        letters, ligatures and soft hyphens that the model's vocabulary doesn't have are read as the plain forms that it
        has; the spans are those of the text in either case. `normalize`: divide each vector by its L2 norm.
        Warns with TextWarning, once for each embedder, of text that the model doesn't know as it is: untokenized, with
        typographic marks, taken apart (NFD), with special tokens of other models, or in another language.
        Raises ConfigError if text is not a string, and for settings that make no sense.
        """
        named, own = (tokenizer, None) if isinstance(tokenizer, str) else ("whitespace", tokenizer)
        reading = Reading(sentences=sentences, tokenizer=named, plain_quotes=plain_quotes)
        read = RawTexts.read([text] if isinstance(text, str) else text, reading, own, self.reader)
        choice, boundaries = LayerChoice.of(layers, self.num_layers), self.boundary_tokens
        arrays = self.embed(read.sentences, layers, normalize=normalize)
        found = read.embedded(arrays, boundaries if self.keep_boundaries else None, self._no_tokens(choice))
        return found[0] if isinstance(text, str) else found

    def embed_iter(
        self,
        sentences: Sentences,
        layers: Layers = "all",
        *,
        window: int | None = None,
        pool: Pool | None = None,
        normalize: bool = False,
    ) -> Iterator[Float[np.ndarray, "... dim"]]:
        """The arrays of `embed`, one by one in input order, in constant memory.

        `window`: sentences taken at a time (default 512, on a GPU 2048), fewer if they are long. In carry mode it is
        the number of rows of each batch (default 64): sentence k continues sentence k - window.
        `layers`, `pool`, `normalize`: as in `embed`; with `pool` each array is a sentence's vector, (dim,) or
        (layers, dim).
        """
        choice = LayerChoice.of(layers, self.num_layers)
        require_value("pool", pool, Pool | None)
        size, max_tokens = self.window_limits(window)
        stream = checked_stream(sentences, size)
        arrays = (array for group in windows(stream, size, max_tokens) for array in self._embed(group, choice, pool))
        return (normalized(array) for array in arrays) if normalize else arrays

    def window_limits(self, window: int | None = None) -> tuple[int, int | None]:
        """Sentences and tokens of a window; in carry mode a window is a batch, however many tokens it has."""
        require_value("window", window, PositiveInt | None)
        if self.state == "carry":
            return window or CARRY_ROWS, None
        default = WINDOW_SENTENCES if self.device == "cpu" else _WINDOW_SENTENCES_ELSEWHERE
        return window or default, self.window_tokens

    def warm_up(self, sentences: Sentences) -> dict[str, Float[np.ndarray, "layers width"]]:
        """Reads sentences one after the other in one row, from nothing; its last state becomes the warm state.

        Gives `hidden` (layers, projections) and `cell` (layers, cells), for `Embedder(bilm, state="warm",
        warm_state=...)`. A few hundred sentences of the same kind as the text are enough.
        """
        read = checked_sentences(sentences)
        if not read:
            raise ConfigError("there is no sentence to warm up with. Pass some of the kind that will be embedded.")
        tokens = self._tokens
        network = tokens.network.now()
        distinct, places = number_tokens(read, network.token_map.boundary_tokens)
        table = tokens.vectors(network, distinct)
        state = zero_state(self.config, 1)
        for row in range(len(read)):
            read_row = network.read(pad(places, np.array([row])), table, state, keeps_state=True)
            assert read_row.state is not None
            state = read_row.state
        self._warm = WarmState(state)
        return self._warm.to_arrays()

    @property
    def warm_state(self) -> dict[str, Float[np.ndarray, "layers width"]] | None:
        """The state sentences start from in warm mode, if there is one."""
        return None if (warm := self._warm) is None else warm.to_arrays()

    def save_warm_state(self, folder: str | Path, *, force: bool = False) -> None:
        """Stores the warm state with a model: `folder` is a model folder of our own format, of these same weights."""
        if self._warm is None:
            raise ConfigError("there is no warm state to save. Make one first: embedder.warm_up(sentences)")
        self._warm.save(Path(folder), self.model_hash, force=force)

    def forget_words(self) -> None:
        """Empties the memory of token vectors. They are computed again when needed, with the same result."""
        self._tokens.cache.clear()

    def reset(self, rows: Sequence[int] | None = None) -> None:
        """Carry mode: forgets what was read, in some rows or in all."""
        with self._carried.alone():
            self._carried.reset(rows)

    def state_dict(self) -> dict[str, Float[np.ndarray, "layers rows width"]]:
        """Carry mode: what is remembered, `hidden` (layers, rows, projections) and `cell` (layers, rows, cells).

        Empty before the first call. As in AllenNLP, there are as many rows as the largest batch so far had.
        """
        with self._carried.alone():
            return self._carried.to_arrays()

    def load_state_dict(self, arrays: Mapping[str, Float[np.ndarray, "layers rows width"]]) -> None:
        """Carry mode: continues from what `state_dict` returned. Raises ConfigError for other shapes, NaN or inf."""
        with self._carried.alone():
            self._carried.load_arrays(arrays)

    def _embed(
        self,
        sentences: Sequence[Sequence[str]],
        choice: LayerChoice,
        pool: Pool | None = None,
        tell: Callable[[int], object] = lambda tokens: None,
    ) -> list[Float[np.ndarray, "... dim"]]:
        """The arrays of checked sentences; `tell` is called with the number of tokens of each batch when it is done."""
        if not sentences:
            return []
        tokens = self._tokens  # once: another thread may ask for `bilm` meanwhile
        network = tokens.network.now()
        carries, edge = self.state == "carry", 0 if self.keep_boundaries else 1
        warm = self._warm if self.state == "warm" else None
        with self._carried.alone() if carries else nullcontext():
            distinct, places = number_tokens(sentences, network.token_map.boundary_tokens)
            table = tokens.vectors(network, distinct)
            results: list[Any] = [None] * len(sentences)

            def finish(batch: Batch, starts: np.ndarray, fetch: Callable[[], Any]) -> None:
                values = fetch()
                for row, start, length in zip(batch.rows, starts, batch.lengths, strict=True):
                    results[row] = pooled(values[..., start + edge : start + length - edge, :].copy(), pool)
                tell(sum(len(sentences[row]) for row in batch.rows))

            lengths = [len(row) for row in places]
            # Of carry mode: one batch, in the caller's order.
            whole: list[Int[np.ndarray, " batch"]] = [np.arange(len(places))]
            begun: deque[tuple[Batch, np.ndarray, Callable[[], Any]]] = deque()
            for rows in whole if carries else bucket(lengths, self.max_tokens, padded=network.pads):
                batch = pad(places, rows)
                first = self._carried.first(len(rows)) if carries else None
                if warm is not None:
                    first = warm.of_rows(len(rows))
                read = network.read(batch, table, first, keeps_state=carries)
                if carries and read.state is not None:
                    self._carried.update(read.state)
                begun.append((batch, read.starts, network.chosen(read.layers, choice)))
                while len(begun) > network.batches_ahead:
                    finish(*begun.popleft())
            while begun:
                finish(*begun.popleft())
            return results

    def _no_tokens(self, choice: LayerChoice) -> Float[np.ndarray, "*layers tokens dim"]:
        """The array of a sentence without tokens."""
        return np.zeros((*([self.num_layers] if choice.keeps_all else []), 0, self.layer_dim), np.float32)

    def with_boundaries(self, sentence: Sequence[str]) -> Sequence[str]:
        """The tokens whose vectors a sentence has."""
        before, after = self.boundary_tokens
        return [before, *sentence, after] if self.keep_boundaries else sentence
