"""Tokens -> vectors -> file.

`Embedder` looks up the token vectors of distinct words once (`token_table`), runs the biLM (`network`: the engine, or
torch) over batches of similar length and returns arrays. `corpus/` does so for a whole text, window by window, and can
be resumed; `storage/` writes and reads HDF5, npy and Parquet. Read `embedder` first.
"""
