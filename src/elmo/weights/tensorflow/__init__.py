"""bilm-tf's training checkpoints, read without TensorFlow.

`tensor_bundle` reads TensorFlow's checkpoint format with the help of `sorted_table`, `protobuf` and `crc32c`; `read`
knows what bilm-tf's tensors mean.
"""
