"""Training a task model: seeds, batches, epochs, early stopping, checkpoints, scores.

`train` runs one experiment over its seeds, `fit` one seed. Both can be killed and resumed.
"""
