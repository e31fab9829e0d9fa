"""inputs @ weight.T, the product that takes nearly all of the time, in torch."""

from elmo.ops.native.kinds import ComputeType
from elmo.ops.product.onednn import product
from elmo.ops.product.quantized import quantize_rows, quantize_weight
from elmo.ops.product.reference import product_reference
from elmo.ops.product.rounded import RoundedProducts
from elmo.ops.product.trained import trained_product

__all__ = [
    "ComputeType",
    "RoundedProducts",
    "product",
    "product_reference",
    "quantize_rows",
    "quantize_weight",
    "trained_product",
]
