"""When a loss or a gradient is not finite: saves the state before the step, and finds the rows of text."""

import numpy as np
import torch
from jaxtyping import Float

from elmo.errors import OutputError, WeightFileError
from elmo.pretrain.ranks.distributed import FirstFailed
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.step.stream import RunPosition, StreamWindow
from elmo.pretrain.step.trainer import Trainer, TrainingDiverged


def stop_before(run: RunFolder, trainer: Trainer, position: RunPosition, error: TrainingDiverged) -> TrainingDiverged:
    """Saves the state before the bad step, and returns the error that says so and names the rows of the streams.

    `position`: the trainer's before the step; its weights still are those before the step. All ranks must call it
    together.
    """
    where = bad_rows(trainer, position)
    try:
        folder = run.save_before_nan(trainer, position)
        kept = f"The state before the step is in {folder}"
    except FirstFailed:
        kept = "The first process reports what was kept"
    except WeightFileError:
        kept = "The weights before the step are not finite either, so they were not saved"
    except OutputError as full:
        kept = f"The state before the step could not be saved ({full})"
    return TrainingDiverged(
        f"{error} {kept}; the last checkpoint is {run.latest or 'not there yet'}. Rows of the streams: {where}. Look "
        "at that text, resume with a lower --learning-rate, or skip such steps with --on-nan skip."
    )


@torch.no_grad()
def bad_rows(trainer: Trainer, position: RunPosition) -> str:
    """Which rows of each direction's window give a loss that is not finite, without dropout.

    `position`: the trainer's before the step. All ranks must call it together; each looks at its own rows.
    """
    found = []
    for direction, stream in trainer.streams.items():
        now = stream.position
        stream.seek(position.streams[direction])
        window = stream.next()
        stream.seek(now)
        own = np.flatnonzero(~np.isfinite(_losses(trainer, direction, window))) + trainer.rows.start
        rows = " ".join(trainer.ranks.texts(" ".join(map(str, own)))).split()
        if rows:
            shown = ", ".join(rows[:8]) + (f" and {len(rows) - 8} more" if len(rows) > 8 else "")
            found.append(f"{direction} {shown}")
    return "; ".join(found) or "none, every row's full loss is finite, so it was the gradient or the sampled loss"


def _losses(trainer: Trainer, direction: str, window: StreamWindow) -> Float[np.ndarray, " rows"]:
    """Each row's loss over the window, by the full softmax."""
    bilm, data = trainer.bilm, trainer.data
    types, places = np.unique(window.inputs.T, return_inverse=True)
    words = data.types()
    distinct = bilm.vectors_of([words[number] for number in types])
    vectors = distinct[torch.from_numpy(places.reshape(window.inputs.T.shape)).to(bilm.device)]
    targets = torch.from_numpy(np.asarray(data.type_words)[window.targets.T].astype(np.int64)).to(bilm.device)
    lengths = torch.full((len(vectors),), vectors.shape[1], device=bilm.device)
    outputs, _, _ = getattr(bilm, f"{direction}_lstm")(vectors, lengths, *trainer.states[direction])
    nats = trainer.head.nats(outputs[-1].flatten(0, 1), targets.flatten())
    return nats.view(targets.shape).sum(dim=1).cpu().numpy()
