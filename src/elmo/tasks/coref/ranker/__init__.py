"""The network after the encoder: candidate spans, their scores, antecedents. Start with `network`."""
