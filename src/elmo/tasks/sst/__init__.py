"""Sentiment: labelled trees or TSV, the biattentive classification network, accuracy."""
