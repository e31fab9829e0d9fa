"""Files <-> (config, named tensors). Pure functions, no Module; every quirk of a foreign format lives here only.

A folder for each format: `native/`, `allennlp/`, `many_langs/`, `tensorflow/`, and `pickle/`, which opens pickles in a
confined process. `hub` finds the files that a name means. Read `formats` first, then `native/checkpoint`.
"""
