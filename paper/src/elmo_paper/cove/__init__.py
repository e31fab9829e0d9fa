"""CoVe (McCann et al. 2017): the layers of a translation system's encoder; a comparison system.

Two bidirectional LSTM layers read a sentence's static vectors, and a decoder that attends to their output writes the
translation. After training the decoder is left behind: the two layers are the vectors of a token in its sentence.
Begin with `encoder`; `network` is the whole translation system.
"""
