"""The files of vectors: how they are laid out, written and read.

A row of a file is what has one array: a sentence, or a blank line; a line is one of the text. `layout` computes sizes
and shapes from the plan of a text, `writers` fills the files, `readers` opens them again.
"""
