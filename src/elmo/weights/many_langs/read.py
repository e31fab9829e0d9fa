"""ELMoForManyLangs folders -> Checkpoint.

    config.json          of the training; only `config_path`, the architecture file's name, matters
    char.dic  word.dic   symbol<TAB>id, UTF-8
    token_embedder.pkl   PyTorch state dicts, opened by `elmo.weights.pickle.read`
    encoder.pkl

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`, `modules/`; Che et al. 2018. The quirks of its tensors
end in `names`, those of its tokens in `tokens`.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from elmo.disk.bounded import is_file
from elmo.disk.json_file import read_json
from elmo.weights.agreement import require_agreement
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.first_sight import watched
from elmo.weights.many_langs.architecture import PUBLISHED_ARCHITECTURE, architecture_file, config_of
from elmo.weights.many_langs.names import (
    CHARACTERS,
    PICKLES,
    WORDS,
    embedder_shapes,
    embedder_tensors,
    encoder_shapes,
    encoder_tensors,
)
from elmo.weights.many_langs.tokens import read_token_map
from elmo.weights.pickle.read import read_state_dict
from elmo.weights.soundness import require_finite


def recognizes(path: Path) -> bool:
    """Whether `path` is an ELMoForManyLangs folder: both pickles are in it."""
    return all((Path(path) / name).is_file() for name in PICKLES)


def read(path: Path) -> Checkpoint:
    """The model in the folder `path`. Its pickles are opened in confined child processes.

    An architecture file that is missing from the folder (it is from the published archives) is replaced by the
    published architecture, which the shapes must then agree with. Raises WeightFileError.
    """
    folder = Path(path)
    described = architecture_file(folder)
    beside = [folder / name for name in ("config.json", "char.dic", "word.dic")]
    files = [
        *([] if described is None else [described]),
        *filter(is_file, beside),
        *(folder / name for name in PICKLES),
    ]
    with watched(files, weights=folder / PICKLES[1]) as sources:
        sources.require_known()  # a pickle that has changed is not even opened
        checkpoint = _read(folder, described)
    return replace(checkpoint, source_hash=sources.hash, source_files=sources.files)


def _read(folder: Path, described: Path | None) -> Checkpoint:
    architecture = PUBLISHED_ARCHITECTURE if described is None else read_json(described)
    asked_by = "the published architecture" if described is None else str(described)
    embedder, encoder = (_state_dict(folder / name) for name in PICKLES)
    config = config_of(architecture, _rows(embedder, CHARACTERS), _rows(embedder, WORDS), asked_by)
    for name, state, expected in zip(PICKLES, (embedder, encoder), (embedder_shapes, encoder_shapes), strict=True):
        shapes = {key: array.shape for key, array in state.items()}
        require_agreement(shapes, expected(config), file=str(folder / name), asked_by=asked_by, kind="tensor")
    return Checkpoint(
        config=config,
        tensors={**embedder_tensors(embedder, config), **encoder_tensors(encoder, config)},
        token_map=read_token_map(folder, config),
        source_format="many_langs",
        metadata={"architecture": asked_by} if described is None else {},
    )


def _state_dict(path: Path) -> dict[str, np.ndarray]:
    state = {name: array.astype(np.float32, copy=False) for name, array in read_state_dict(path).items()}
    require_finite(state, str(path), "tensor")
    return state


def _rows(embedder: Mapping[str, np.ndarray], name: str) -> int:
    """Rows of an embedding with ours prepended; its other sizes are checked later, with everything else."""
    array = embedder.get(name)
    return 1 + (len(array) if array is not None and array.ndim else 0)
