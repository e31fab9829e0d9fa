"""What a running process needs: a flag that signals set, the facts of its environment, the device that computes.

Nothing here knows of models or text. Read `stop_flag` first.
"""
