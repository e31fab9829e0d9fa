"""Static vectors of the same text that a biLM is trained on, so that the two can be compared fairly."""
