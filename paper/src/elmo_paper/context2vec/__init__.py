"""context2vec (Melamud et al. 2016): the context of a place as one vector; a comparison system.

Two LSTMs read the words to the left of a place and those to its right; a small network joins their states into the
place's vector, which is trained to be near the vector of the word in that place. The word itself is never read.
Begin with `network`.
"""
