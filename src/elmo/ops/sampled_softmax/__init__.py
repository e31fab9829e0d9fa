"""Cross-entropy against a sample of the vocabulary, drawn log-uniformly by frequency rank."""

from elmo.ops.sampled_softmax.fused import sampled_softmax_mean
from elmo.ops.sampled_softmax.reference import SoftmaxRows, sampled_softmax_reference
from elmo.ops.sampled_softmax.sampler import LogUniformSampler, NegativeSample

__all__ = ["LogUniformSampler", "NegativeSample", "SoftmaxRows", "sampled_softmax_mean", "sampled_softmax_reference"]
