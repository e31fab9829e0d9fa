"""inputs @ weight.T, the product that nearly all inference time goes into."""

from elmo.ops.product.prepacked import Prepacked, prepack
from elmo.ops.product.reference import product_reference

__all__ = ["Prepacked", "prepack", "product_reference"]
