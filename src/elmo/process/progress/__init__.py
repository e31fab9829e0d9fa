"""Progress: how long operations say how far they have come, and what makes this visible.

Every room reports to the interface in `report.py`, which is the file to read first; no room but the command line
chooses what draws it. On a terminal that is `bars.py`, on anything else `lines.py`.
"""
