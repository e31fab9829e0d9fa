"""What the layers of an encoder know, and what the record of a training run shows.

`neighbors/` finds the nearest tokens of a word in its sentence, `senses/` asks which sense it has. `encoders` are what
a biLM is compared with: static vectors, the mean of the words around, random weights. `curves` draws a training run.
"""
