"""Which words in which sentences are near a word in its sentence: the paper's table 4, and the page's map.

`build` makes a context index of a text: every token's vectors by layer, on disk. `context_index` opens it and finds the
exact nearest tokens of a vector. Read `context_index` first.
"""
