"""State dicts that `torch.save` wrote, read by torch: `weights_only` carries out nothing that the pickle asks for.

Models that are such files (ELMoForManyLangs, AllenNLP's `weights.th`, CoVe) need torch once: `elmo convert` writes them
in a form that is read without it.
"""

import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.bounded import open_regular, readable, shown, understood
from elmo.errors import WeightFileError
from elmo.process.extra_library import extra_library
from elmo.shapes import Float

_AGAIN = "Get the file again from its publisher, and check its hash if one is published."


def read_state_dict(path: Path) -> dict[str, Float[np.ndarray, "..."]]:
    """Every tensor of a file written by `torch.save(module.state_dict(), path)`, in either of torch's formats.

    Returns name -> float16, float32 or float64 array; bfloat16 becomes float32. Raises WeightFileError if the file is
    missing, damaged, or holds anything but a flat dict of dense float tensors; MissingExtraError without torch.
    """
    path = Path(path)
    purpose = f"{path} is a pickle: to read it, or to write it once by 'elmo convert' in a form that needs no torch,"
    torch = extra_library("torch", "torch", f"{purpose} elmo")
    with readable(path, WeightFileError, "Check its permissions, or get it from the model's publisher."):
        open_regular(path).close()
    kind = f"Only a flat dict of dense float tensors is read: other pickles can run code when they are opened. {_AGAIN}"
    with understood(path, WeightFileError, kind):
        return _arrays(_loaded(path, torch), torch)


def _loaded(path: Path, torch: Any) -> Any:
    with understood(path, WeightFileError, _AGAIN, Exception):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if (part := archive.testzip()) is not None:  # torch doesn't compare the checksums
                    raise ValueError(f"its part {shown(part)} has another checksum than it had")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of kinds of files that are refused anyway
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what a damaged file makes torch raise has no common class
        # torch's own text advises to trust the file.
        asked = re.search(r"GLOBAL (\S{1,200})", str(error))
        raise ValueError(f"it asks for {asked[1]}" if asked else f"torch says {type(error).__name__}") from None


def _arrays(loaded: Any, torch: Any) -> dict[str, Float[np.ndarray, "..."]]:
    if not isinstance(loaded, dict):
        raise ValueError(f"it holds a {type(loaded).__name__.lower()}, not a dict of tensors")
    arrays = {}
    for name, tensor in loaded.items():
        is_dense = isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided and tensor.device.type == "cpu"
        if not isinstance(name, str) or not is_dense or not tensor.is_floating_point():
            kind = getattr(tensor, "dtype", type(tensor).__name__)
            raise ValueError(f"its entry {shown(name)} ({kind}) is not a dense float tensor with a name")
        # A stride of 0 lets four bytes claim any shape.
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise ValueError(f"its tensor {shown(name)} claims more bytes than the file has")
        own = tensor.detach().float() if tensor.dtype == torch.bfloat16 else tensor.detach()
        arrays[name] = own.contiguous().numpy()
    return arrays
