"""The server's paths: a file for each, with the types of its request and answer and the function that answers.

`embeddings` is the one to read first: read the body, find the model, cut texts into tokens, compute, encode.
"""
