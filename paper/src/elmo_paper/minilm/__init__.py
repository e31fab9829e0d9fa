"""A small transformer as an encoder, which ELMo is measured beside."""
