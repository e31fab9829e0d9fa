"""MSSG (Neelakantan et al. 2014): vectors of a word's senses, one of which each occurrence's context chooses.

`senses` has the vectors and their files, `encoder` reads sentences with them, `train` makes them. Read `senses` first.
"""
