"""What the layers of an encoder know, and what the record of a training run shows.

`neighbors/` finds the nearest tokens of a word in its sentence, and counts how often they agree with it; `senses/` asks
which sense it has, `probes/` which part of speech; `geometry` measures how similar vectors are, by the formulas in
`measures`. `encoders` has what a biLM is compared with: static vectors, the mean of the words around, random weights.
`record` begins all their records, `plots` draws them.
"""
