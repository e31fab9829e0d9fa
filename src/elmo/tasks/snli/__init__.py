"""Textual entailment: pairs of sentences in SNLI's files, ESIM (Chen et al. 2017), accuracy."""
