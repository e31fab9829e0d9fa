"""Progress: how long operations report how far they are, and what makes this visible.

Every room reports to the interface in `report.py`, which is the file to read first; no room but the command line
chooses what draws it, which is in `shown.py`.
"""
