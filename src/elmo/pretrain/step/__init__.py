"""One training step: a window of text -> two language models -> losses -> gradients -> updates.

`stream` cuts the text into windows, `direction` runs one language model over a window, `softmax_loss` compares it with
the next tokens, and `trainer` puts them together. Read `trainer` first.
"""
