"""Coreference: CoNLL-2012 columns or raw text, the paper's end-to-end span ranking model, MUC, B3 and CEAF."""
