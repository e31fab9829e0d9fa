"""The network; each file is one picture of the paper.

Characters -> `token_encoder` (char CNN, highway, projection) -> `projected_lstm`, two directions of several layers ->
layers; `scalar_mix` mixes them, `lm_head` predicts words. All of it is plain torch. Read `bilm` first.
"""
