"""Linear probes of frozen layers, the paper's table 6: how much of a token's tag can be read off its vector?

`treebank` reads words and tags, `linear_probe` fits one layer, `controls` are what an honest table has beside it. Read
`experiment` first.
"""
