"""Word sense disambiguation by nearest neighbor, the paper's table 5: does a vector know which sense a word has?

`raganato` reads the corpora and their keys, `inventory` the senses of a dictionary; `files` checks that they belong
together. `prototypes` adds up the vectors of each sense in a training corpus, layer by layer, and answers for a test
word with the nearest one. `baselines` answer without vectors, `score` compares answers with the keys. Read `prototypes`
first.
"""
