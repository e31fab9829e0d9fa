"""What becomes of the vectors of a call: pooled to one per sentence, normalized, compared, as arrays or as a table.

Everything here works on numpy arrays that the `Embedder` has computed. Read `pooling` first.
"""
