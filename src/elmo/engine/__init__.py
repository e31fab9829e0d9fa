"""The network for vectors alone: numpy arrays in, numpy arrays out, no torch.

    engine          `Engine`: a checkpoint's tensors, laid out once -> token vectors and all layers
    inputs          checks of what callers pass
    token_encoder   characters and words -> token vectors
    stacks          the LSTM layers of both directions, on as many cores as there are
    row_packing     sentences of a batch -> rows that read several of them in turn, which a layer reads
    autotune        which way of sharing a few rows between threads is the fastest
    weight_store    matrices in one form: as given, or as laid out
    softmax         outputs of a direction -> log-probabilities of words
    backend         which of the two computes:
    native, panels  products and layers through the C library, and the layout of their weights
    plain           the same in numpy, where there is no library; in float64 it is the oracle of both

Read `engine` first. `model/` is the same network in torch; `layer/` lets this one compute a frozen biLM on a CPU.
"""
