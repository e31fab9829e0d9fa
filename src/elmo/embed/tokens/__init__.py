"""Token vectors, computed once for each word type.

`table` gives the token vectors of a call's words, `cache` remembers those of earlier calls up to a limit of bytes.
"""
