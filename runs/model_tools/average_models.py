"""The weighted mean of two models' weights, one of which was trained on from the other.

    python runs/model_tools/average_models.py MODEL OTHER OUT --share 0.85

OTHER's weights count for --share, MODEL's for the rest. Two models on one path of training can lie on both sides of a
valley, with better ones between them (Izmailov et al. 2018; Wortsman et al. 2022). Whether this is so must be measured:
choose the share on validation text, and read the test text once.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from elmo.errors import ElmoError, WeightFileError
from elmo.setting_checks import require_setting
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write


def averaged(model: Checkpoint, other: Checkpoint, share: float) -> Checkpoint:
    """`other`, its weights moved towards `model`'s. Raises WeightFileError for models that don't fit together."""
    require_setting(0 < share < 1, "--share", share, "above 0 and below 1")
    for what in ("config", "token_map", "vocabulary"):
        if getattr(model, what) != getattr(other, what):
            raise WeightFileError(
                f"the two models have a different {what}, so their weights have no mean. Name a model and one that was "
                "trained on from it."
            )
    if (model.softmax is None) != (other.softmax is None):
        raise WeightFileError("only one of the two models has a softmax. Name two models with one, or two without.")
    softmax = None if model.softmax is None or other.softmax is None else _mean(model.softmax, other.softmax, share)
    tensors = _mean(model.tensors, other.tensors, share)
    return replace(other, tensors=tensors, softmax=softmax, warm_state=None, metadata={})


def _mean(ones: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray], share: float) -> dict[str, np.ndarray]:
    # In float64, so that the mean of equal weights is the same weight.
    return {
        name: ((1 - share) * ones[name].astype(np.float64) + share * other.astype(np.float64)).astype(np.float32)
        for name, other in others.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: something can't be read, or doesn't fit together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("model", "other", "output"):
        parser.add_argument(name)
    parser.add_argument("--share", type=float, required=True)
    options = parser.parse_args(arguments)
    try:
        model, other = (formats.read(hub.resolve(name)) for name in (options.model, options.other))
        write(averaged(model, other, options.share), Path(options.output))
    except (ElmoError, OSError) as error:
        print(f"average_models: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
