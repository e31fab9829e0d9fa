"""Our own format: a folder with config.json, model.safetensors and lists of words.

Read `checkpoint` first: a checkpoint is a config, named tensors and what its tokens and words mean.
"""
