"""Ray Data: ElmoActor, a column of texts -> a column of vectors, on the workers of a Ray cluster.

    vectors = embed_dataset(ray.data.read_parquet("texts/"), model="small-en", column="text")
    vectors.write_parquet("vectors/")

Each row has the vectors that `elmo embed` gives its text. Ray restarts actors that die and repeats their batches.
"""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from elmo.embed.storage.layout import StoredType, VectorLayout
from elmo.errors import MissingExtraError
from elmo.integrations.model_reference import ModelReference, State, side_by_side
from elmo.integrations.texts import tokenized
from elmo.layer_choice import Layers
from elmo.setting_checks import PositiveInt, require_setting, require_value
from elmo.text.sentences import Tokenize

try:
    import pyarrow
    import ray
    import ray.data
except ImportError as error:
    raise MissingExtraError("ray", "ray", "ElmoActor") from error

if TYPE_CHECKING:
    from ray.data import Dataset


_OUTPUT = "vectors"


class ElmoActor:
    """For `Dataset.map_batches(ElmoActor, batch_format="pyarrow")`: appends the column `output` to each batch.

    `column`: strings, which the `tokenizer` splits (it and `plain_quotes`: as for `Embedder.embed_text`), or lists of
    tokens. `output` is list<fixed_size_list<float>>: a vector for each token of the text; with `layers="all"` its
    layers side by side. `store`: "float32" or "float16". `model`, `dtype`, `state`, `model_hash`: see `ModelReference`.
    Arguments are names and settings, never arrays: what lies in Ray's object store may be gone when an actor is
    restarted.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        column: str = "text",
        output: str = _OUTPUT,
        layers: Layers = "average",
        tokenizer: str | Tokenize = "auto",
        plain_quotes: bool = True,
        store: StoredType = "float32",
        dtype: str = "float32",
        state: State = "zero",
        model_hash: str | None = None,
    ) -> None:
        _keep_to_own_processors()
        self.reference = ModelReference(model, dtype, state, model_hash)
        self.width = self.reference.dim(layers)
        self.column, self.output, self.layers, self.tokenizer = column, output, layers, tokenizer
        self.plain_quotes = plain_quotes
        self.store: StoredType = store

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        embedder = self.reference.embedder
        sentences = tokenized(batch[self.column], self.tokenizer, embedder.reader, plain_quotes=self.plain_quotes)
        rows = [side_by_side(array) for array in embedder.embed(sentences, self.layers)]
        return batch.append_column(self.output, self._lists(rows))

    def _lists(self, rows: list[Float32[np.ndarray, "tokens width"]]) -> pyarrow.ListArray:
        """list<fixed_size_list> with the tokens' vectors of each row, in the type that is stored."""
        layout = VectorLayout(np.array([len(array) for array in rows]), None, self.width, self.store)
        stored = [layout.stored(array, row) for row, array in enumerate(rows)]
        numbers = np.concatenate([*stored, np.empty((0, self.width), layout.dtype)])
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(numbers.reshape(-1)), self.width)
        offsets = np.cumsum([0, *layout.lengths])
        return pyarrow.ListArray.from_arrays(pyarrow.array(offsets, pyarrow.int32()), vectors)


def embed_dataset(
    dataset: "Dataset",
    *,
    model: str | None = None,
    actors: int | None = None,
    num_cpus: int = 1,
    batch_size: int = 256,
    **settings: Any,
) -> "Dataset":
    """The dataset with a column of vectors; `settings`: the other arguments of `ElmoActor`.

    `actors`: default: as many as fit. Actors that hold every processor leave none for the tasks that read and write,
    which then wait for ever: one is always left. `num_cpus`: processors, and threads, of each actor. The model is
    loaded once here, so that every actor is held to the same weights. Raises ConfigError if there are too few
    processors, or a column named like the output already.
    """
    for name, count in (("num_cpus", num_cpus), ("actors", 1 if actors is None else actors)):
        require_value(name, count, PositiveInt)
    output, columns = settings.get("output", _OUTPUT), dataset.columns() or ()
    require_setting(output not in columns, "output", output, f"another name than those of the columns, {columns}")
    processors = int(ray.cluster_resources().get("CPU", 0))
    fitting = (processors - 1) // num_cpus
    most = f"below Ray's {processors} processors, of which the tasks that read and write need one"
    require_setting(fitting >= 1, "num_cpus", num_cpus, most)
    reference = ModelReference(model, settings.pop("dtype", "float32"), settings.pop("state", "zero"))
    reference.dim(settings.get("layers", "average"))  # wrong layers are an error here, not in a hundred actors
    return dataset.map_batches(
        ElmoActor,
        fn_constructor_kwargs=asdict(reference) | settings,
        batch_format="pyarrow",
        batch_size=batch_size,
        num_cpus=num_cpus,
        compute=ray.data.ActorPoolStrategy(size=fitting if actors is None else min(actors, fitting)),
    )


def _keep_to_own_processors() -> None:
    """As many threads as Ray has given the actor processors; before torch is loaded, which asks once."""
    given = ray.get_runtime_context().get_assigned_resources().get("CPU") if ray.is_initialized() else None
    if given is not None:  # a worker's, not the program's that has called Ray
        os.environ["OMP_NUM_THREADS"] = str(max(1, int(given)))
