"""A thin file for each verb of `elmo`: its flags as a dataclass, and `main(argv)`, which calls the library and prints.

Verbs of several commands (`analyze`, `reproduce`, `task`) are folders. `scores` is a short one to read first.
"""
