"""context2vec (Melamud et al. 2016): what stands around a place, as one vector; a system that ELMo was compared with.

Two LSTMs read the words to the left of a place and those to its right; a small network joins their states into the
place's vector, which is trained to be near the vector of the word that stands there. The word itself is never read.
Begin with `network`.
"""
