"""Whole texts to one file of vectors, in constant memory, resumable at every window.

A text is read several times: to count its tokens and size the output (`planned_text`), to embed it, and to write its
tokens and their places (`run`). Each window's vectors are a file of their own in a partial folder, until all are
joined. Read `embed_corpus` first.
"""
