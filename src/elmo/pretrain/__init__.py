"""Corpus -> vocabulary -> shards -> windows -> loss -> checkpoint."""
