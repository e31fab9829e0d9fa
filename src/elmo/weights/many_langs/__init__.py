"""The format of ELMoForManyLangs: a folder of pickles and dictionaries."""
