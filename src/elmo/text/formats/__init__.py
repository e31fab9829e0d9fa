"""The formats of text files: lines in, rows out; a row is a text, or a list of tokens where the format has them.

`form` finds out which format a file has, by the `structure` of its first lines; `rows` knows all formats, with `table`
for CSV and TSV, `columns` for files of one token per line, `conllu` for treebanks and `fasta` for proteins.
"""
