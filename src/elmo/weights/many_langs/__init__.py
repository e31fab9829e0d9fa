"""The format of ELMoForManyLangs: a folder of pickles and dictionaries. Read only; begin with `read`."""
