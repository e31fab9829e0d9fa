"""The files of vectors: how they are laid out, written and read.

`layout` computes sizes and shapes from the plan of a text, `writers` fills the files, `readers` opens them again.
"""
