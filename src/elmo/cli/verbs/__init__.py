"""A thin file for each verb of `elmo`: its flags as a dataclass, and `main(argv)`, which calls the library and prints.

What takes long to load, such as numpy and torch, is imported inside of functions, so that `--help` and mistakes in the
arguments don't wait for it.

Verbs of several commands (`analyze`, `reproduce`, `task`) are folders. `scores` is a short one to read first.
"""
