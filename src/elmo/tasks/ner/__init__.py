"""Named entity recognition: CoNLL columns, the paper's biLSTM-CRF, entity F1."""
