"""A verb run by several processes: which of them reports an error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elmo.errors import ConfigError, ElmoError, Interrupted

if TYPE_CHECKING:
    from elmo.pretrain.ranks.distributed import Ranks
    from elmo.process.device import Device


_LONGEST_TIMEOUT = 7 * 86400


@contextmanager
def joined(device: "Device", deterministic: bool, peer_timeout: float) -> "Iterator[Ranks]":
    """`distributed.joined`; an error of all ranks is reported by the first one only, that of one with its number."""
    # Here, so that the --help of a verb does not wait for torch.
    from elmo.pretrain.ranks import distributed
    from elmo.pretrain.step.trainer import TrainingDiverged

    if not 0 < peer_timeout <= _LONGEST_TIMEOUT:
        raise ConfigError(
            f"--peer-timeout is {peer_timeout:g}, but must be above 0 and at most {_LONGEST_TIMEOUT:,} seconds. Use "
            "a few minutes."
        )
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
