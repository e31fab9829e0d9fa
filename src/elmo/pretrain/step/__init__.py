"""One training step: a window of text -> two language models -> losses -> gradients -> updates.

`stream` cuts the text into windows, `direction` runs one language model over a window and compares it with the next
tokens, `setup` makes what a run starts with, and `trainer` puts them together. Read `trainer` first.
"""
