"""Whole texts to one file of vectors, in constant memory, resumable at every window.

A text is read several times: to count its tokens and size the output (`plan`), to write down tokens and their places,
and to embed it (`run`). Finished windows lie in a partial folder until the output is complete. `shards` divides a text
among machines, and `join` puts their files together. Read `embed_corpus` first.
"""
