"""sentence-transformers: ElmoModule, the first module of a SentenceTransformer.

    model = SentenceTransformer(modules=elmo_modules("small-en"))
    model.encode(["The bank was steep ."])

With `layers="mix"` the scalar mix is trained by any of the library's losses; the biLM never is.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from elmo.disk.json_file import read_json, read_record
from elmo.errors import ConfigError, MissingExtraError
from elmo.integrations.model_reference import ModelReference, State, side_by_side
from elmo.integrations.texts import tokenized
from elmo.layer_choice import Layers
from elmo.text.sentence_checks import is_column

try:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import InputModule
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
    from sentence_transformers.sentence_transformer.modules.pooling import PoolingMode
    from sentence_transformers.util import import_from_string
except ImportError as error:
    raise MissingExtraError("sentence-transformers", "sentence-transformers", "ElmoModule") from error

MIX = "mix"

_WHERE = ("token", "cache_folder", "revision", "local_files_only")
_KEPT = ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")


class ElmoModule(InputModule):
    """Texts -> the vectors of their tokens, for a `Pooling` after it.

    `layers`: as for `Embedder.embed`; or "mix": gamma * sum_k softmax(weights)_k * layer_k, both trained. `tokenizer`:
    "auto", "unicode", "whitespace" or "module:function", and `plain_quotes`: as for `Embedder.embed_text`. `model`,
    `dtype`, `state`, `model_hash`: see `ModelReference`. A text without tokens has one vector of zeros, so that all
    poolings give zeros.
    """

    config_keys = ["model", "layers", "tokenizer_name", "plain_quotes", "dtype", "state", "model_hash"]
    save_in_root = False

    def __init__(
        self,
        model: str | None = None,
        *,
        layers: Layers = "average",
        tokenizer_name: str = "auto",
        plain_quotes: bool = True,
        dtype: str = "float32",
        state: State = "zero",
        model_hash: str | None = None,
    ) -> None:
        super().__init__()
        self.reference = ModelReference(model, dtype, state, model_hash)
        is_mix = isinstance(layers, str) and layers == MIX
        self.dim = self.reference.dim("average" if is_mix else layers)  # refuses what chooses no layers
        self.layers = layers if isinstance(layers, str) else np.asarray(layers).tolist()  # as JSON has them
        self.tokenizer_name, self.dtype, self.state = tokenizer_name, dtype, state
        self.plain_quotes = plain_quotes
        self.weights = self.gamma = None
        if is_mix:
            self.weights = nn.Parameter(torch.zeros(self.reference.embedder.num_layers))
            self.gamma = nn.Parameter(torch.ones(1))

    @property
    def model(self) -> str | None:
        return self.reference.model

    @property
    def model_hash(self) -> str | None:
        """SHA-256 of the weights, as used first."""
        return self.reference.model_hash

    @property
    def tokenizer(self) -> str:  # type: ignore[override] - there is no tokenizer of words' pieces
        return self.tokenizer_name

    def preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **_: Any) -> dict[str, Any]:
        """The tokens of each text; `input_ids` are places, which the library's trainer looks for."""
        for text in inputs:
            if is_column(text):
                raise ConfigError(
                    f"a {type(text).__name__} was given as one text, but its rows are texts. Pass them as a list: "
                    "encode(list(texts))."
                )
        tokens = self._tokens(inputs)
        length_of_prompt: dict[str, int] = {}  # what a `Pooling` that leaves prompts out looks for
        if prompt:
            # Split by itself: in one text with others, "auto" might make other tokens of it.
            (begin,) = self._tokens([prompt])
            length_of_prompt = {"prompt_length": len(begin)}
            tokens = [[*begin, *row] for row in tokens]
        lengths = torch.tensor([max(1, len(row)) for row in tokens])
        places = torch.arange(int(lengths.max())).expand(len(tokens), -1)
        mask = (places < lengths[:, None]).long()
        return {"input_ids": places.contiguous(), "attention_mask": mask, "tokens": tokens, **length_of_prompt}

    def _tokens(self, texts: Sequence[Any]) -> list[Sequence[str]]:
        return tokenized(texts, self.tokenizer_name, self.reference.embedder.reader, plain_quotes=self.plain_quotes)

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Adds `token_embeddings` (batch, tokens, dim); what is beyond a text's tokens is zeros."""
        place = features["attention_mask"].device
        rows, width = self._vectors(features["tokens"], place), features["attention_mask"].shape[1]
        padded = pad_sequence([*rows, torch.zeros(width, self.dim, device=place)], batch_first=True)[:-1]
        return features | {"token_embeddings": padded}

    def _vectors(self, tokens: Sequence[Sequence[str]], place: torch.device) -> list[Float[Tensor, "tokens dim"]]:
        choice = "all" if self.layers == MIX else self.layers
        arrays = self.reference.embedder.embed([list(row) for row in tokens], choice)
        if self.weights is None or self.gamma is None:
            return [torch.from_numpy(side_by_side(array)).to(place) for array in arrays]
        layers = [torch.from_numpy(array).to(place) for array in arrays]
        shares = torch.softmax(self.weights, dim=0)
        return [self.gamma * torch.einsum("l,ltd->td", shares, array) for array in layers]

    def get_embedding_dimension(self) -> int:
        return self.dim

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Writes the settings, the model's name and hash, and the mix: no weights of the biLM."""
        self.save_config(output_path)
        if self.layers == MIX:
            self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(  # pyright: ignore[reportIncompatibleMethodOverride] - the others are passed on by name
        cls, model_name_or_path: str, subfolder: str = "", **kwargs: Any
    ) -> Self:
        """What `save` wrote. Raises WeightFileError if the name means other weights now."""
        where = {name: kwargs[name] for name in _WHERE if name in kwargs}
        module = cls(**cls.load_config(model_name_or_path, subfolder, **where))
        if module.layers == MIX:
            cls.load_torch_weights(model_name_or_path, subfolder, model=module, **where)
        return module


def _take_columns() -> None:
    """The library takes what is neither a list nor an array for one text: a column of texts would get one vector."""
    usual = SentenceTransformer.is_singular_input

    def is_one_text(self: SentenceTransformer, inputs: Any) -> Any:
        if isinstance(next(iter(self), None), ElmoModule) and (is_column(inputs) or isinstance(inputs, Iterator)):
            return False
        return usual(self, inputs)

    SentenceTransformer.is_singular_input = is_one_text


_take_columns()


def elmo_modules(
    model: str | None = None, *, pool: PoolingMode = "mean", normalize: bool = True, **settings: Any
) -> list[nn.Module]:
    """ElmoModule, pooling and perhaps normalizing, for `SentenceTransformer(modules=...)`.

    `pool`: a mode of the library's `Pooling` ("mean", "max", ...). `settings`: the arguments of `ElmoModule`.
    """
    first = ElmoModule(model, **settings)
    return [first, Pooling(first.dim, pool), *([Normalize()] if normalize else [])]


def load(folder: str | Path) -> SentenceTransformer:
    """A SentenceTransformer that was saved with an ElmoModule.

    `SentenceTransformer(folder)` refuses classes from outside of the library without `trust_remote_code=True`, even of
    an installed package; here only this class and the library's own are made. Raises ConfigError for a folder without
    modules.json and for other classes.
    """
    folder = Path(folder)
    listed = read_record(folder / "modules.json")
    types, places = zip(*((entry["type"], entry["path"]) for entry in listed), strict=True)
    classes = [_class(name, folder) for name in types]
    modules = [one.load(str(folder), subfolder=place) for one, place in zip(classes, places, strict=True)]
    settings = read_json(folder / "config_sentence_transformers.json")
    return SentenceTransformer(modules=modules, **{name: settings[name] for name in _KEPT if settings.get(name)})


def _class(name: str, folder: Path) -> Any:
    if name == f"{ElmoModule.__module__}.{ElmoModule.__qualname__}":
        return ElmoModule
    if name.startswith("sentence_transformers."):
        return import_from_string(name)
    raise ConfigError(
        f"{folder}: has a module {name}, which is neither ElmoModule nor of sentence-transformers: code of others is "
        "not run here. If you trust it: SentenceTransformer(FOLDER, trust_remote_code=True)."
    )
