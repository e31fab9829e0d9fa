"""Tokens -> vectors -> file."""
