"""What the record of a training run shows.

`curves` draws its loss and perplexity.
"""
