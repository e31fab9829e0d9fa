"""A whole text to one file of vectors, in constant memory, resumable at every window.

The text is read twice: first to count its tokens and size the output (`plan`), then to embed it. Finished windows lie
in a partial folder until the output is complete. Read `embed_corpus` first.
"""
