"""Models for tasks, with ELMo or without: every task reads its files, trains, scores and predicts by the same steps.

A task is one object in a folder of its own (`ner/`, `sst/`); `registry` finds it by its name. `tokens/` gives its model
vectors for tokens, `train/` trains it, `layers/` are layers that task models share, and `saved_model` saves and loads
the result. Read `task.py` first: it says what a task is.
"""
