"""Opening pickles, which can run code: in a child process without network, with limits, by an allow-list.

`read` starts the child and reads what it answers; `child` is the program that it runs.
"""
