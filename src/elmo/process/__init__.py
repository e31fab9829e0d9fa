"""What a running process needs: a flag that signals set, the facts of its environment, the device that computes, and
whom it tells how far it has come.

Nothing here knows of models or text. Read `stop_flag` and `progress.report` first.
"""
