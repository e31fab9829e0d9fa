"""bilm-tf's training checkpoints, read without TensorFlow.

`tensor_bundle` reads TensorFlow's checkpoint format with the help of `sorted_table`, `protobuf` and `crc32c`; `read`
and `names` know what bilm-tf's variables mean.
"""
