"""Few different numbers of tokens in the batches of a training.

oneDNN prepares itself for each new shape of a product, which costs about a millisecond and half a megabyte, and forgets
it again after 1,024 others. Batches of passages have hundreds of widths, and a step has fifty products.
"""


def padded_width(tokens: int) -> int:
    """`tokens`, or the next number of eight between a power of two and the next one; the same below 16.

    At most an eighth more, on average 4 %.
    """
    step = max(1, 1 << max(0, tokens.bit_length() - 4))
    return -(-tokens // step) * step
