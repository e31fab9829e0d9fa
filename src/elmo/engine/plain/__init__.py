"""In numpy alone, equation by equation. It computes in the weights' own type: float32, or float64 as the oracle.

bfloat16 and int8 are imitated: factors are rounded alike, but their products are no faster than float32's.
"""
