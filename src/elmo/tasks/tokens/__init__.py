"""Vectors for the tokens of a task's sentences: static vectors, ELMo's mixes, or both.

The layers of a frozen biLM are computed once and kept on disk (`layer_store`). Read `representation` first.
"""
