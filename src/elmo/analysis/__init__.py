"""Which tokens of a text are near a word in its sentence, layer by layer: the paper's table 4, search, the page's map.

`neighbors/` builds an index of a text and finds the nearest tokens in it; `record` begins the record of a search;
`pictures` draws with matplotlib. Read `neighbors/context_index` first.
"""
