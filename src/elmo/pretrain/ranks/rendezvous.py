"""How the processes of a run find each other again after some of them were restarted.

torchrun keeps one store of keys over all its restarts, with the entries of processes that ended long ago: gloo then
takes their addresses for current ones, which failed after a second restart (torch 2.13). Here the first rank proposes a
name for the rendezvous together with the token that each rank last published; a rank only accepts a proposal that
repeats the token it has published itself since it started. Everything that follows is stored under that name.
"""

import json
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

_PAUSE = 0.02


def meet(rank: int, size: int, timeout: float) -> Store:
    """A store of this rendezvous alone; torchrun's variables say where it is.

    Raises TimeoutError if not all come in time, ValueError if a variable is missing, RuntimeError from the network.
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


@contextmanager
def nothing_to_save() -> Iterator[None]:
    """SIGTERM and Ctrl-C end the process at once, as usual: while it waits for others it can't react to a flag."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
