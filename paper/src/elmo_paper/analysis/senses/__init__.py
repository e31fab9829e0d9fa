"""Word sense disambiguation by nearest neighbor, the paper's table 5: does a vector know which sense a word has?

`raganato` reads the corpora and their keys, `inventory` the senses of a dictionary; `files` checks that they belong
together. `nearest` answers for a test word with the nearest sense of a training corpus, layer by layer; `score`
compares answers with the keys. Read `nearest` first.
"""
