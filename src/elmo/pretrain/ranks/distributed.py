"""Ranks: the processes that train one model together, launched by torchrun, on one machine or many.

Every rank holds the whole model and a contiguous block of the streams' rows. In each step the ranks add up their
gradients, so that all make the same update; only the first rank writes files. Small messages go through gloo on the
CPU, also where the gradients go through NCCL: every step begins with one, which is an error on all ranks if one is
lost.
"""

import json
import os
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TypeVar

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from elmo.errors import ConfigError, ElmoError
from elmo.process.device import Device, chosen_device
from elmo.process.resources import num_cores
from elmo.process.stop_flag import handled
from elmo.setting_checks import require_setting

T = TypeVar("T")

_CPU = torch.device("cpu")
_CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
_THREADS = "OMP_NUM_THREADS"
_PAUSE = 0.02


class PeerLost(ElmoError):  # noqa: N818 - what happened
    """Another process of the run ended, hangs or can't be reached."""

    exit_code = 1


class FirstFailed(ElmoError):  # noqa: N818 - what happened
    """The first rank failed at something it does for all; it reports the reason, and the others stay silent."""


@dataclass(frozen=True)
class Ranks:
    """This process's place among those of the run. `Ranks()` is a single process: nothing is sent anywhere."""

    rank: int = 0
    size: int = 1
    device: torch.device = _CPU
    """Where this process computes."""
    timeout: float = 600.0
    """Seconds without an answer after which another rank counts as lost."""

    @property
    def is_first(self) -> bool:
        """Whether this rank writes files and reports."""
        return self.rank == 0

    def rows(self, total: int) -> slice:
        """This rank's block of `total` rows; blocks differ by one row at most. ConfigError if there are too few."""
        require_setting(self.size <= total, "batch_size", total, f"at least {self.size}: a row for each process")
        return self._blocks(total)[self.rank]

    def _blocks(self, total: int) -> list[slice]:
        """Of each rank."""
        return [slice(*ends) for ends in pairwise(rank * total // self.size for rank in range(self.size + 1))]

    def add_up_(self, values: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The sum of all ranks' `values`, in place: bit for bit the same on all."""
        if self.size > 1:
            with self._others():
                dist.all_reduce(values)
        return values

    def gather(self, values: list[float]) -> Float[Tensor, "ranks values"]:
        """A few numbers of each rank, float64, in the order of the ranks."""
        own = torch.tensor(values, dtype=torch.float64)
        if self.size == 1:
            return own[None]
        found = [torch.empty_like(own) for _ in range(self.size)]
        with self._others():
            dist.all_gather(found, own)
        return torch.stack(found)

    def largest(self, value: int) -> int:
        """The largest of the ranks' numbers."""
        return value if self.size == 1 else int(self.gather([value]).max())

    def union(self, rows: Int[Tensor, " own"], counts: list[int]) -> Int[Tensor, " union"]:
        """The distinct numbers that any rank has, ascending; `counts` says how many each rank has."""
        if self.size == 1:
            return rows
        own = rows.new_zeros(max(counts))
        own[: len(rows)] = rows
        found = [torch.empty_like(own) for _ in counts]
        with self._others():
            dist.all_gather(found, own)
        return torch.cat([some[:count] for some, count in zip(found, counts, strict=True)]).unique()

    def gather_rows(self, own: Float[Tensor, "layers rows width"], total: int) -> Float[Tensor, "layers total width"]:
        """On the first rank the rows of all ranks, on the CPU; elsewhere this rank's own."""
        if self.size == 1:
            return own
        sizes = [block.stop - block.start for block in self._blocks(total)]
        padded = own.new_zeros(own.shape[0], max(sizes), own.shape[2], device=_CPU)
        padded[:, : own.shape[1]] = own
        found = [torch.empty_like(padded) for _ in sizes] if self.is_first else None
        with self._others():
            dist.gather(padded, found)
        if found is None:
            return own
        return torch.cat([some[:, :size] for some, size in zip(found, sizes, strict=True)], dim=1)

    def on_first(self, work: Callable[[], T]) -> T:
        """Runs `work` on the first rank; its result, on all ranks. FirstFailed on the others if it failed there."""
        if self.size == 1:
            return work()
        error, outcome = None, [None, "", 0]
        if self.is_first:
            try:
                outcome[0] = work()
            except Exception as found:  # the others must be told before it is raised
                error, outcome = found, [None, str(found), getattr(found, "exit_code", 1)]
        with self._others():
            dist.broadcast_object_list(outcome, device=_CPU)
        if error is not None:
            raise error
        if outcome[2]:
            failed = FirstFailed(outcome[1])
            failed.exit_code = outcome[2]
            raise failed
        return outcome[0]

    @contextmanager
    def _others(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise PeerLost(
                f"another process ended, or hung for more than {self.timeout:g} seconds (--peer-timeout): "
                f"{str(error).splitlines()[0]} torchrun --max-restarts starts all of them again, and --resume-if-begun "
                "continues from the last checkpoint."
            ) from error


@contextmanager
def joined(device: Device = "auto", *, deterministic: bool = False, timeout: float = 600.0) -> Iterator[Ranks]:
    """This process's place among those that torchrun started, or the only one.

    `device`: auto is a GPU where there is one; LOCAL_RANK says which. `deterministic`: on a GPU, operations whose
    results repeat bit for bit, or an error where there is none; a CPU's always do. Raises ConfigError if the device
    isn't there or torchrun's variables are not whole, PeerLost if the others don't come within `timeout` seconds.
    """
    size, local = _number("WORLD_SIZE", 1), _number("LOCAL_RANK", 0)
    if deterministic:
        os.environ.setdefault(_CUBLAS, ":4096:8")  # before CUDA starts, which reads it once
    place = _place(device, local)
    if deterministic and place.type == "cuda":
        torch.use_deterministic_algorithms(True)
    if size == 1:
        yield Ranks(device=place, timeout=timeout)
        return
    if place.type == "cuda":
        torch.cuda.set_device(place)
    else:
        _share_cores(_number("LOCAL_WORLD_SIZE", 1))
    ranks = Ranks(_number("RANK", 0), size, place, timeout)
    _join(ranks)
    yield ranks
    # Not after an error: the others may hang, and notice it by the end of this process.
    dist.destroy_process_group()


def _join(ranks: Ranks) -> None:
    # A backend for each device: small messages then need no GPU.
    backend = "gloo" if ranks.device.type == "cpu" else "cpu:gloo,cuda:nccl"
    timeout = timedelta(seconds=ranks.timeout)
    try:
        # While it waits for the others it can't react to a flag, and there is nothing to save.
        with handled({signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}):
            store = meet(ranks.rank, ranks.size, ranks.timeout)
            dist.init_process_group(backend, store=store, rank=ranks.rank, world_size=ranks.size, timeout=timeout)
    except ValueError as error:
        raise ConfigError(
            f"WORLD_SIZE is {ranks.size}, but the processes can't find each other: {error}. Launch them with torchrun."
        ) from None
    except (RuntimeError, TimeoutError) as error:
        raise PeerLost(
            f"rank {ranks.rank} of {ranks.size}: not all came within {ranks.timeout:g} seconds (--peer-timeout): "
            f"{str(error).splitlines()[0]}. Check why they did not start and whether the machines reach each other."
        ) from error


def _place(device: Device, local_rank: int) -> torch.device:
    place = chosen_device(device)
    if place.type != "cuda":
        return place
    most = f"below {torch.cuda.device_count()}, the GPUs of this machine (--nproc-per-node), without --device cpu"
    require_setting(local_rank < torch.cuda.device_count(), "$LOCAL_RANK", local_rank, most)
    return torch.device("cuda", local_rank)


def _share_cores(processes: int) -> None:
    """Each process of a machine gets its share of the cores, unless OMP_NUM_THREADS is set.

    torchrun sets it to 1 where it isn't set, so a 1 from torchrun doesn't count.
    """
    chosen = os.environ.get(_THREADS)
    if chosen is None or (chosen == "1" and "TORCHELASTIC_RUN_ID" in os.environ):
        torch.set_num_threads(max(1, num_cores() // processes))


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    require_setting(value.isdecimal(), f"${name}", value, "a whole number, which torchrun sets")
    return int(value)


def meet(rank: int, size: int, timeout: float) -> Store:
    """A store of this rendezvous alone, at the address in torchrun's variables.

    torchrun keeps one store over all its restarts, and gloo takes the addresses of ended processes in it for current
    ones (torch 2.13). So the first rank proposes a name together with the token that each rank last published; a rank
    only accepts a proposal that repeats its own token. Everything that follows is stored under that name. Raises
    TimeoutError if not all come in time, ValueError if a variable is missing, RuntimeError from the network.
    """
    store, _, _ = next(rendezvous("env://", rank, size, timeout=timedelta(seconds=timeout)))
    return PrefixStore(agree(store, rank, size, timeout), store)


def agree(store: Store, rank: int, size: int, timeout: float) -> str:
    """The name of the rendezvous, the same on all `size` ranks that are running now. Raises TimeoutError."""
    deadline = time.monotonic() + timeout
    said = uuid.uuid4().hex
    store.set(f"elmo/said/{rank}", said)
    if rank == 0:
        return _propose(store, size, deadline)
    while True:
        proposal = json.loads(_value(store, "elmo/proposal") or "{}")
        if said in proposal.get("said", ()):
            store.set(f"elmo/heard/{proposal['name']}/{rank}", "yes")
            return proposal["name"]
        _pause(deadline)


def _propose(store: Store, size: int, deadline: float) -> str:
    """Proposes until every other rank has accepted: a rank's token may at first be that of an ended process."""
    name = uuid.uuid4().hex
    others = range(1, size)
    while not all(_value(store, f"elmo/heard/{name}/{rank}") for rank in others):
        said = [_value(store, f"elmo/said/{rank}") for rank in others]
        store.set("elmo/proposal", json.dumps({"name": name, "said": said}))
        _pause(deadline)
    return name


def _value(store: Store, key: str) -> str | None:
    return store.get(key).decode() if store.check([key]) else None


def _pause(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError("some never came")
    time.sleep(_PAUSE)
