"""Attention by trilinear scores: of one sequence to another (`bi_attention`), to itself (`self_attention`)."""
