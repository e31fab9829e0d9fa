"""Through the C library: weights laid out in panels, products and whole LSTM layers in one call each.

Read `panels` for the layout; the C functions are in `ops/native/inference`.
"""
