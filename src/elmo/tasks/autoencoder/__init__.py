"""Sequence autoencoder: a language model learns to reproduce a sentence that it has read, before another task."""
