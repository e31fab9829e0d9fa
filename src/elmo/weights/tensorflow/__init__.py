"""bilm-tf's training checkpoints, read without TensorFlow.

`tensor_bundle` reads TensorFlow's checkpoint format with the help of `sorted_table` and `crc32c`; `read` knows what
bilm-tf's variables mean.
"""
