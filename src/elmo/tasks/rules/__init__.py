"""What can be predicted without training a network: the lowest lines that a trained one should be above."""
