"""The network for vectors alone: numpy arrays in, numpy arrays out, no torch.

    engine          `Engine`: a checkpoint's tensors, laid out once -> token vectors and all layers
    token_encoder   characters and words -> token vectors
    side_by_side    the LSTM layers of both directions, on as many cores as there are
    held_once       matrices in one form: as given, or as laid out
    turns           sentences of a batch -> rows that read several of them in turn
    ways            which way of sharing a few rows between threads is the fastest
    softmax         outputs of a direction -> log-probabilities of words
    native/         products and layers through the C library
    plain/          the same in numpy, where there is no library; in float64 it is the oracle of both

Read `engine` first. `model/` is the same network in torch; `layer/` lets this one compute a frozen biLM on a CPU.
"""
