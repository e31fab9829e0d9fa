"""One way to write: files and folders that appear whole or not at all, locks, JSON with a limit on its size.

Everything here works with paths and bytes and knows nothing of models or text. Read `atomic` first.
"""
