"""Models for tasks, with ELMo or without: every task reads its files, trains, scores and predicts by the same steps.

A task is one object (`task`) in a folder of its own (`ner/`, `sst/`). `tokens/` gives its model vectors for tokens,
`train/` fits it, `layers/` are the layers that task models share, and `task_model` saves and loads the result.
"""
