"""The process that serves an app: its address (`address`), its keys (`keys`), its connections (`connections`), its
signals and its end (`server`). Read `server` first.
"""
