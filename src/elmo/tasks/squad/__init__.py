"""Question answering: SQuAD 1.1 JSON, the paper's BiDAF++ with self-attention, official EM and F1."""
