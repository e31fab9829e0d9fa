"""ELMo in the libraries that people already use: one file for each, imported by whoever names it and by nothing else.

Every adapter takes the library's own tokens and gives one vector for each, in their order: the vectors of
`Embedder.embed` for the same tokens. Objects of other libraries are copied, pickled and sent between processes, so none
of them holds weights: they hold a `ModelReference`. Read `model_reference` first.
"""
