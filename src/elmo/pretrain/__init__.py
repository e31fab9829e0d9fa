"""Training a biLM: prepared text -> windows -> loss -> updates -> checkpoints.

`settings/` holds the recipe, `step/` what happens in one step, `run/` what happens around the steps (checkpoints,
evaluation, resuming), `ranks/` what passes between several processes. Read `step/trainer` first, then `run/loop`.
"""
