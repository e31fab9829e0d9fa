"""Text -> tokens -> ids, in numpy alone.

`sentences` reads lines, JSONL and CoNLL-U; `tokenizer` splits them, `characters` and `vocabulary` number them,
`targets/` says which entry of a vocabulary is predicted for a token, and `batches` pads sentences of similar length
together. Read `sentences` first.
"""
