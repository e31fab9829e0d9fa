"""A first look at a text, before hours are spent on it: is it tokenized, is it in the model's language, and are its
letters written as models know them?

`sample` reads the first lines and says what they look like; `text.punctuation`, `language` and `composition` have the
signals, and `said_once` gives each warning once where texts come one after the other.
"""
