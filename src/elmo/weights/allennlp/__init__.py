"""The format of AllenNLP and bilm-tf: options.json and weights.hdf5, and AllenNLP's state dicts."""
