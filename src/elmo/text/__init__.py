"""Text -> tokens -> ids, in numpy alone.

`sentences` reads text in the `formats/` that people have, out of `files/`; `tokenizer` splits it, `reading/` also says
where each token stands, and `first_look/` warns of text that a model wouldn't understand; `characters` and
`vocabulary` number them, `targets/` says which entry of a vocabulary is predicted for a token, and `batches` pads
sentences of similar length together. Read `sentences` first.
"""
