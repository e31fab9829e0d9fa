"""A first look at a text, before hours are spent on it: is it tokenized, and is it in the model's language?

`sample` reads the first lines and says what they look like; `punctuation` and `language` have the two signals.
"""
