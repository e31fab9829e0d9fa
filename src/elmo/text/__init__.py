"""Text -> tokens -> ids, in numpy alone.

`sentences` reads text in the `formats/` that people have, out of `files/`; `tokenizer` splits it, `reading/` also finds
the place of each token, and `first_look/` warns of text that a model hasn't learned to read; `characters` and
`vocabulary` number tokens, and `batches` pads sentences of similar length together. Read `sentences` first.
"""
