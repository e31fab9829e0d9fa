"""What a running process needs: a flag that signals set, the facts of its environment, the device that computes,
worker processes, and reports of progress.

Nothing here knows of models or text. Read `stop_flag` and `progress.report` first.
"""
