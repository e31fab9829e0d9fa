"""Static word vectors in one place: reading the formats people have, training one's own, looking words up.

`vectors` reads word2vec, GloVe and fastText files, and `training/` makes them from the same text that a biLM is trained
on. Read `vectors` first.
"""
