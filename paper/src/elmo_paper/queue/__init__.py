"""The trainings behind docs/paper.md: a queue that is planned in paper/plans, and what is measured of its trainings.

Read `plan` first, then `tables`.
"""
