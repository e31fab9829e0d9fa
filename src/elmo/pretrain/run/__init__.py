"""Around the steps: the entrance, the loop, the run folder and its checkpoints, evaluation, divergence, fine-tuning.

A run can be killed at any moment and resumes bit for bit from its last checkpoint. Read `training` first, the entrance,
then `loop`.
"""
