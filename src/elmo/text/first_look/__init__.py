"""A first look at a text, before hours are spent on it: is it tokenized, is it in the model's language, and are its
letters written as models know them?

`sample` reads the first lines and describes them, by `language` and `text.punctuation`.
"""
