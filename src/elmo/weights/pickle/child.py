"""The child process of `elmo.weights.pickle.read`: opens one pickle and writes its tensors as safetensors.

    python -I -B child.py TARGET PACKAGE_FOLDERS_AS_JSON < SOURCE

It is run by its path in a fresh interpreter and imports nothing of elmo. Exit status 0: TARGET is written; 3: refused,
with the reason as the last line of stdout. The allow-list of `torch.load(weights_only=True)` is the wall; the limits,
the missing network and the audit hook are there for the day the wall has a hole (it had two: CVE-2025-32434,
CVE-2026-24747).
"""

import ctypes
import json
import os
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

REFUSED = 3
MIB = 1 << 20
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
FORBIDDEN = (
    "os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile subprocess.Popen pty.spawn "
    "socket.__new__ socket.connect socket.bind socket.sendto socket.sendmsg socket.getaddrinfo "
    "os.remove os.rename os.rmdir os.mkdir os.link os.symlink os.chmod os.chown os.truncate os.kill "
    "shutil.rmtree shutil.move ctypes.dlopen"
)


def leave_network() -> None:
    """Moves this process to an empty network namespace, where the system has them and allows it.

    Where it does not (many containers forbid both ways), `forbid_actions` still lets no socket be made from Python.
    """
    if sys.platform == "linux":
        # Before torch is imported: a process with several threads can't enter a user namespace. Root needs none.
        library = ctypes.CDLL(None)
        if library.unshare(CLONE_NEWUSER | CLONE_NEWNET):
            library.unshare(CLONE_NEWNET)


def limit_resources(file_size: int) -> None:
    """Memory, time, output and processes, in proportion to the file.

    Set after torch was imported, because the address space of torch alone is 0.6 GB or 10 GB, depending on the build;
    nothing of the file has been read by then.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's timeout is all there is
        return
    limits = {
        "RLIMIT_CPU": int(time.process_time()) + 10 + file_size // (20 * MIB),
        "RLIMIT_FSIZE": 2 * file_size + MIB,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_NPROC": 0,
        "RLIMIT_CORE": 0,
    }
    statm = Path("/proc/self/statm")
    if statm.exists():
        in_use = int(statm.read_text().split()[0]) * resource.getpagesize()
        # The stored bytes, a contiguous copy, the bytes being written, and one more to be generous.
        limits["RLIMIT_AS"] = in_use + 4 * file_size + 256 * MIB
    for name, value in limits.items():
        number = getattr(resource, name, None)
        if number is not None:
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))


def forbid_actions() -> None:
    """From here on this process starts no program, opens no connection and writes or changes no file from Python."""
    forbidden = frozenset(FORBIDDEN.split())
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & writing
        if writes or event in forbidden:
            raise PermissionError(f"opening the file tried a forbidden action ({event})")

    sys.addaudithook(judge)


def require_intact(source: BinaryIO) -> None:
    """Raises BadZipFile if a part of a zip archive hasn't the checksum stored with it: torch doesn't compare them."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            for part in archive.infolist():
                with archive.open(part) as file:
                    while file.read(MIB):
                        pass
    source.seek(0)


def checked(loaded: object, file_size: int) -> dict[str, Any]:
    """name -> numpy array, if `loaded` is a flat dict of dense float tensors that fit into the file."""
    import torch

    if not isinstance(loaded, dict):
        raise ValueError(f"it holds a {type(loaded).__name__}, not a dict of tensors")
    arrays, total = {}, 0
    for name, tensor in loaded.items():
        if not isinstance(name, str):
            raise ValueError(f"it has a key of type {type(name).__name__}, not a name")
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"its entry {name!r} is a {type(tensor).__name__}, not a tensor")
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or not tensor.is_floating_point():
            raise ValueError(f"its tensor {name!r} ({tensor.dtype}, {tensor.layout}) is not a dense float tensor")
        # A stride of 0 lets four bytes claim any shape: believe no more than the file can hold.
        total += tensor.nelement() * tensor.element_size()
        if total > file_size:
            raise ValueError(f"its tensors up to {name!r} claim {total} bytes, the file has {file_size}")
        wide = tensor.float() if tensor.dtype not in (torch.float16, torch.float32, torch.float64) else tensor
        arrays[name] = wide.detach().contiguous().numpy()
    return arrays


def one_line(error: BaseException) -> str:
    """The reason in a line, without torch's advice to switch the protection off."""
    text = " ".join(str(error).split())
    text = re.sub(r"Weights only load failed\.|In PyTorch 2\.6, .*? trusted source\.", "", text)
    text = re.split(r"Check the documentation|Please use | \(1\) ", text.split("WeightsUnpickler error:")[-1])[0]
    text = text.strip().rstrip(".")[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def main(target: str, package_folders: str) -> int:
    """Returns the exit status. The pickle is standard input, which the parent has opened: it can't be exchanged."""
    leave_network()
    sys.path += json.loads(package_folders)
    import torch
    from safetensors.numpy import save_file

    torch.set_num_threads(1)
    source = sys.stdin.buffer
    file_size = os.fstat(source.fileno()).st_size
    limit_resources(file_size)
    forbid_actions()
    try:
        require_intact(source)
        save_file(checked(torch.load(source, map_location="cpu", weights_only=True), file_size), target)
    except Exception as error:  # whatever a hostile file makes the reader raise, it means: refused
        print(one_line(error))
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
