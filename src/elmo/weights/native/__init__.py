"""Our own format: a folder with config.json, model.safetensors and lists of words.

Read `names` first: the files of a model folder. `facts` knows config.json and tokens.json.
"""
