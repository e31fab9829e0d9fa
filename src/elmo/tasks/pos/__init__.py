"""Tags of single tokens, such as parts of speech: reading, network, scores, rule."""
