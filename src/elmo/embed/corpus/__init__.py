"""Whole texts to one file of vectors, in constant memory, resumable at every window.

A text is read once: its rows are counted, which gives the size of the output, and kept (`planned_text`) to be embedded
and stored (`run`). Each window's vectors are a file of their own in a partial folder, until all are
joined. Read `embed_corpus` first.
"""
