"""Linear probes of frozen layers, the paper's table 6: how much of a token's tag can be read off its vector?

`treebank` reads words and tags, and makes the controls of them; `linear_probe` fits one layer, `online_code` measures
how easily it is learned. Read `experiment` first.
"""
