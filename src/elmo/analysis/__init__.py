"""What a model has learned: analyses that give figures."""
