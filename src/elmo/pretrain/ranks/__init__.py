"""Between the processes of one training: finding each other, adding up gradients, evaluating together.

Each process has a rank; with one process everything here is free of communication. Read `distributed` first.
"""
