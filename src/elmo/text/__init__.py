"""Text -> tokens -> ids, in numpy alone.

`sentences` reads lines, JSONL and CoNLL-U; `tokenizer` splits them, `characters` and `vocabulary` number them, and
`batches` pads sentences of similar length together. Read `sentences` first.
"""
