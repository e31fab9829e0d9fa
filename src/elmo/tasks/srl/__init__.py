"""Semantic role labeling: CoNLL columns, He et al.'s alternating LSTM, F1 by the rules of srl-eval."""
