"""One way to write, one way to read: files and folders that appear whole or not at all, locks, reads with a limit.

Everything here works with paths and bytes and knows nothing of models or text. Read `atomic` first, then `bounded`.
"""
