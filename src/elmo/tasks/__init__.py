"""Models for tasks, with ELMo or without: every task reads its files, trains, scores and predicts by the same steps."""
