"""The geometry of a layer's vectors: how alike are tokens, occurrences of one word, the words of one sentence?

`sample` chooses words and tokens of a text, the same for every encoder. `measures` has the formulas, each on arrays;
`cka` compares two layers. `experiment` streams a text through the encoders. Read `measures` first.
"""
