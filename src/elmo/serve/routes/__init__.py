"""The server's paths: the types of their requests and answers, and the functions that answer.

`embeddings` is the one to read first: read the body, find the model, split texts into tokens, compute, encode.
"""
