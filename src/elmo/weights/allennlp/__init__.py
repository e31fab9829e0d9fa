"""The published format of AllenNLP and bilm-tf: options.json and weights.hdf5; and AllenNLP's state dicts.

Read `names` first: the table of datasets and their layouts.
"""
