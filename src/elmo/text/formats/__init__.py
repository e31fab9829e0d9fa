"""The formats of text files: lines in, rows out; a row is a text, or a list of tokens where the format has them.

`rows` knows all of them. `jsonl` and `table` take a text out of a field or column, `conll` and `conllu` read files of
one token per line.
"""
