"""The formats of text files: lines in, rows out; a row is a text, or a list of tokens where the format has them.

`lines` reads the lines of a file of any format, also of those that other rooms know. `rows` knows all formats of texts.
`jsonl` and `table` take a text out of a field or column, `conll` and `conllu` read files of one token per line.
"""
