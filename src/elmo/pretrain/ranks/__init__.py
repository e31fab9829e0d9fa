"""Between the processes of one training: finding each other, adding up gradients.

Each process has a rank; a single process sends nothing. Read `distributed` first.
"""
