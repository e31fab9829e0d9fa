"""A verb run by several processes: who of them tells what went wrong."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elmo.errors import ElmoError, Interrupted

if TYPE_CHECKING:
    from elmo.pretrain.ranks.distributed import Ranks
    from elmo.process.device import Device


@contextmanager
def joined(device: "Device", deterministic: bool, peer_timeout: float) -> "Iterator[Ranks]":
    """`distributed.joined`. What all ranks find is told by the first one alone, what one finds with its rank."""
    # Here, so that the --help of a verb does not wait for torch.
    from elmo.pretrain.ranks import distributed
    from elmo.pretrain.step.trainer import TrainingDiverged

    with distributed.joined(device, deterministic=deterministic, timeout=peer_timeout) as ranks:
        try:
            yield ranks
        except (Interrupted, TrainingDiverged, distributed.FirstFailed) as error:
            if ranks.is_first:
                raise
            sys.exit(error.exit_code)
        except Exception as error:
            if ranks.size > 1:
                who = f"rank {ranks.rank} of {ranks.size}"
                if isinstance(error, ElmoError):
                    error.args = (f"{who}: {error}",)
                else:
                    print(f"{who}:", file=sys.stderr)
            raise
