"""Whether torch itself has fast products of rounded factors; the types of factors are `ops.native.kinds`."""

import torch


def has_bfloat16_products() -> bool:
    """Whether oneDNN has products of bfloat16 factors on this processor."""
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
