"""Recurrent layers of task models: LSTMs and GRUs in both directions, or alternating between them."""
