"""A model with wider projections and the same predictions, to be trained on with `elmo finetune`.

    python runs/model_tools/grow_projections.py MODEL OUT --projection-size 256 [--seed 1]

Every projection (of the token encoder and of each LSTM layer) gets new rows of random numbers, as large as its own;
whatever reads them (gates, softmax) gets zeros in the new columns, so that the first prediction is the old one. The
zeros learn at once, since what they multiply isn't zero. Net2Net (Chen et al. 2015) does this by copying units, which
would have to be told apart by noise.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elmo.errors import ConfigError, ElmoError, WeightFileError
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write

READERS = (".input_weight", ".recurrent_weight")
PROJECTIONS = (".projection_weight", "token_encoder.projection.weight", "token_encoder.projection.bias")


def grown(model: Checkpoint, projection_size: int, seed: int = 1) -> Checkpoint:
    """`model` with wider projections. Raises WeightFileError for a model that can't grow, ConfigError for a size."""
    if model.softmax is None or set(model.softmax) != {"weight", "bias"} or not model.config.token_projection:
        raise WeightFileError(
            "the model has no plain softmax or no token projection, which would have to grow too. Pretrain a new one."
        )
    added = projection_size - model.config.projection_size
    if added <= 0:
        raise ConfigError(
            f"--projection-size {projection_size} is no growth: the model has {model.config.projection_size}. "
            "Name a larger size."
        )
    if projection_size >= model.config.cell_size:
        raise ConfigError(
            f"--projection-size {projection_size} is not below the {model.config.cell_size} cells: there would be "
            "nothing to project. Name a smaller size."
        )
    if seed < 0:
        raise ConfigError(f"--seed is {seed}, but seeds are whole numbers from 0 on. Choose another one.")
    random = np.random.default_rng(seed)
    tensors = {name: _wider(name, tensor, added, random) for name, tensor in sorted(model.tensors.items())}
    softmax = {"weight": _zeros_after(model.softmax["weight"], added), "bias": model.softmax["bias"]}
    config = replace(model.config, projection_size=projection_size)
    return replace(model, config=config, tensors=tensors, softmax=softmax, warm_state=None, metadata={})


def _wider(name: str, tensor: np.ndarray, added: int, random: np.random.Generator) -> np.ndarray:
    if name.endswith(READERS):
        return _zeros_after(tensor, added)
    if not name.endswith(PROJECTIONS):
        return tensor
    if tensor.ndim == 1:
        return np.concatenate([tensor, np.zeros(added, tensor.dtype)])
    rows = random.normal(0.0, float(tensor.std()), (added, tensor.shape[1])).astype(tensor.dtype)
    return np.concatenate([tensor, rows])


def _zeros_after(matrix: np.ndarray, columns: int) -> np.ndarray:
    return np.concatenate([matrix, np.zeros((len(matrix), columns), matrix.dtype)], axis=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: something can't be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("model")
    parser.add_argument("output")
    parser.add_argument("--projection-size", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    try:
        model = formats.read(hub.resolve(options.model))
        write(grown(model, options.projection_size, options.seed), Path(options.output))
    except (ElmoError, OSError) as error:
        print(f"grow_projections: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
