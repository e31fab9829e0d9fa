"""The network; each file is one picture of the paper.

Characters -> `token_encoder` (char CNN, highway, projection) -> `projected_lstm`, two directions of several layers ->
layers; `scalar_mix` and `elmo` make the layer for other models of them, `lm_head` predicts words. Read `bilm` first.
"""
