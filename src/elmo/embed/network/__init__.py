"""What computes an embedder's vectors: the engine, which needs no torch, or a biLM that lives in torch.

Read `network` first: the protocol that both have.
"""
