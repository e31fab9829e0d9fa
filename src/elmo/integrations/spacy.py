"""spaCy: the component "elmo", which gives every token of a Doc its vector.

    nlp.add_pipe("elmo", config={"model": "small-en"})
    doc[3]._.elmo, doc[2:5]._.elmo, doc._.elmo

spaCy finds it by its entry point, without an import. The vectors are spaCy's `doc.tensor`: one row for each token, in
order, zeros for whitespace. A span's or doc's vector is the mean of its tokens'. `elmo.integrations.spacy_tok2vec` is
the layer for components that are trained.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
from jaxtyping import Float32, Int

from elmo.disk.json_file import read_json, write_json
from elmo.errors import ConfigError, MissingExtraError
from elmo.integrations.model_reference import ModelReference, side_by_side
from elmo.layer_choice import Layers
from elmo.text.sentence_checks import Tokens

try:
    from spacy.language import Language
    from spacy.pipeline.tok2vec import Tok2Vec, Tok2VecListener
    from spacy.tokens import Doc, Span, Token
    from spacy.util import minibatch
except ImportError as error:
    raise MissingExtraError("spacy", "spacy", "the spaCy component") from error

_FILE = "elmo.json"
_WITHOUT = (
    "The doc has no ELMo vectors: it was not read by a pipeline with the component 'elmo', or was stored without them "
    "(a DocBin keeps no tensors). Add it: nlp.add_pipe('elmo')."
)
_AFTERWARDS = (
    "Tokens were split or merged after the component 'elmo' ran. Put what does so before it, or embed the doc again: "
    "nlp.get_pipe('elmo')(doc)."
)


@Language.factory(
    "elmo",
    assigns=["doc.tensor", "doc._.elmo", "span._.elmo", "token._.elmo"],
    default_config={
        "model": None,
        "layers": "average",
        "dtype": "float32",
        "state": "zero",
        "hooks": True,
        "plain_quotes": True,
    },
)
def make(
    nlp: Language,
    name: str,
    model: str | None,
    layers: int | str | list[float],  # int first: spaCy of 2024 takes the first type that fits, and makes "0" of 0
    dtype: str,
    state: str,
    hooks: bool,
    plain_quotes: bool,
) -> "ElmoComponent":
    """The component of a pipeline; spaCy calls it.

    `model`, `dtype`, `state`: see `ModelReference`. `layers`: as for `Embedder.embed`; "all" puts the layers side by
    side. `hooks`: whether `vector`, `has_vector` and `similarity` of tokens, spans and docs use these vectors.
    `plain_quotes`: as for `Embedder.embed_text`.
    """
    reference = ModelReference(model, dtype, state)  # type: ignore[arg-type]
    return ElmoComponent(nlp, name, reference, layers, hooks, plain_quotes)


class _Vectors(np.ndarray):
    """doc.tensor, whose row of a merged token is the mean of its words' rows; spaCy alone keeps the last one's."""

    words: Int[np.ndarray, " tokens"] | None
    """Of how many words each row is the mean; 0: of whitespace, which has zeros."""

    @classmethod
    def of(cls, vectors: Float32[np.ndarray, "tokens width"], words: Int[np.ndarray, " tokens"]) -> "_Vectors":
        found = vectors.view(cls)
        found.words = words
        return found

    def __array_finalize__(self, source: object) -> None:
        self.words = getattr(source, "words", None)  # of a copy

    def __getitem__(self, places: Any) -> Any:
        return np.asarray(self)[places]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        """What is computed of the vectors is no longer them."""
        if "out" in settings:
            settings["out"] = tuple(np.asarray(one) if isinstance(one, _Vectors) else one for one in settings["out"])
        plain = (np.asarray(one) if isinstance(one, _Vectors) else one for one in inputs)
        return getattr(ufunc, method)(*plain, **settings)

    def __array_function__(self, function: Any, types: Any, inputs: Any, settings: Any) -> Any:
        """np.delete is how spaCy merges tokens: of each the last row stays."""
        if function is not np.delete or self.words is None:
            found = super().__array_function__(function, types, inputs, settings)
            return np.asarray(found) if isinstance(found, _Vectors) else found
        starts = np.append(0, np.delete(np.arange(1, len(self) + 1), inputs[1])[:-1])
        words = np.add.reduceat(self.words, starts)
        sums = np.add.reduceat(np.asarray(self) * self.words[:, None], starts)
        return _Vectors.of((sums / np.maximum(words, 1)[:, None]).astype(self.dtype), words)


class ElmoComponent:
    """Writes the vectors of every token into `doc.tensor`; see `make`."""

    def __init__(
        self,
        nlp: Language,
        name: str,
        reference: ModelReference,
        layers: Layers,
        hooks: bool,
        plain_quotes: bool = True,
    ) -> None:
        self._nlp = nlp
        self.name = name
        self.reference = reference
        self.layers = layers
        self.hooks = hooks
        self.plain_quotes = plain_quotes
        self._checked: list[str] = []

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The docs, with their vectors. Sentences are those of the doc, if it has any; else it is one sentence."""
        for docs in minibatch(stream, batch_size):
            self._require_place()
            for doc, vectors in zip(docs, self._vectors(docs), strict=True):
                doc.tensor = _Vectors.of(vectors, np.array([not token.is_space for token in doc], int))
                if self.hooks:
                    _add_hooks(doc)
                yield doc

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes which model is used, without its weights."""
        Path(path).mkdir(parents=True, exist_ok=True)
        write_json(Path(path) / _FILE, self._facts())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ElmoComponent":
        """Holds the model to the weights that were used when this was written."""
        self.reference.model_hash = read_json(Path(path) / _FILE).get("model_hash")
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """What `to_disk` writes."""
        return json.dumps(self._facts()).encode("ascii")

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> "ElmoComponent":
        """What `from_disk` does."""
        self.reference.model_hash = json.loads(content).get("model_hash")
        return self

    def _facts(self) -> dict[str, object]:
        _ = self.reference.embedder  # the hash is known from the first use on
        return asdict(self.reference)

    def _vectors(self, docs: list[Doc]) -> Iterator[Float32[np.ndarray, "tokens width"]]:
        places = [sentence_places(doc) for doc in docs]
        sentences = [[doc[i].text for i in part] for doc, parts in zip(docs, places, strict=True) for part in parts]
        embedder = self.reference.embedder
        read = embedder.reader.tokens(sentences, plain_quotes=self.plain_quotes)
        arrays = iter(embedder.embed(map(Tokens, read), self.layers))
        width = self.reference.dim(self.layers)
        for doc, parts in zip(docs, places, strict=True):
            vectors = np.zeros((len(doc), width), np.float32)
            for part in parts:
                vectors[part] = side_by_side(next(arrays))
            yield vectors

    def _require_place(self) -> None:
        """Refuses pipelines where `doc.tensor` would be overwritten by, or mistaken for, another component's."""
        names = self._nlp.pipe_names
        if names == self._checked:
            return
        for other in names[names.index(self.name) + 1 :] if self.name in names else ():
            pipe = self._nlp.get_pipe(other)
            if isinstance(pipe, Tok2Vec) or any(isinstance(layer, Tok2VecListener) for layer in _layers_of(pipe)):
                raise ConfigError(
                    f"{other!r} comes after {self.name!r} in the pipeline and overwrites its vectors in doc.tensor, or "
                    f"reads them as tok2vec's. Put {self.name!r} last: nlp.add_pipe('elmo', last=True)."
                )
        self._checked = names


def sentence_places(doc: Doc) -> list[list[int]]:
    """The places of the tokens of each sentence, without whitespace; a doc without sentence boundaries is one."""
    parts = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    return [[token.i for token in part if not token.is_space] for part in parts]


def _layers_of(pipe: object) -> Iterator[object]:
    walk = getattr(getattr(pipe, "model", None), "walk", None)
    return iter(()) if walk is None else walk()


def _vector(part: Doc | Span | Token) -> Float32[np.ndarray, " width"]:
    doc = part if isinstance(part, Doc) else part.doc
    tokens = [part] if isinstance(part, Token) else [token for token in part if not token.is_space]
    rows = _rows(tokens, doc)
    if isinstance(part, Token):
        return rows[0]
    return np.mean(rows, axis=0) if rows else np.zeros(doc.tensor.shape[1:], np.float32)


def _rows(tokens: list[Token], doc: Doc) -> list[Float32[np.ndarray, " width"]]:
    """The tokens' vectors."""
    if len(doc.tensor) != len(doc):
        raise ConfigError(
            f"the doc has {len(doc)} tokens, but doc.tensor {len(doc.tensor)} rows. "
            f"{_AFTERWARDS if len(doc.tensor) else _WITHOUT}"
        )
    tensor = np.asarray(doc.tensor)
    return [tensor[token.i] for token in tokens]


def _similarity(part: Doc | Span | Token, other: Doc | Span | Token) -> float:
    """Cosine; 0 if one of them is zeros. spaCy's own says 1 for two tokens of the same text, whatever their context."""
    one, two = _vector(part), cast(np.ndarray, other.vector)
    norms = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(np.dot(one, two)) / norms if norms else 0.0


def _has_vector(part: Doc | Span | Token) -> bool:
    return bool(_vector(part).any())


def _norm(part: Doc | Span | Token) -> float:
    return float(np.linalg.norm(_vector(part)))


def _add_hooks(doc: Doc) -> None:
    hooks = {"vector": _vector, "has_vector": _has_vector, "vector_norm": _norm, "similarity": _similarity}
    for table in (doc.user_hooks, doc.user_span_hooks, doc.user_token_hooks):
        table.update(hooks)


for _kind in (Doc, Span, Token):
    _kind.set_extension("elmo", getter=_vector, force=True)
