"""The paper's tables and figures about ELMo in a model, on any task of `elmo task`: `elmo reproduce`."""
