"""Files <-> (config, named tensors). Pure functions, no Module; every quirk of a foreign format lives here only.

A folder or file for each format: `read` (files -> Checkpoint), `write` where the format can be written, `names` (what
files and tensors are called there). `native/` is ours; `allennlp/`, `many_langs/` and `tensorflow/` are foreign;
`pickle` reads state dicts for them. `hub` finds the files that a name means, and `published/` downloads those of
published models; `formats` recognizes which format they have. Read `checkpoint` first, then `formats` and
`native/read`.
"""
