"""The ELMo layer of other models, and where torch's biLM meets the engine.

    elmo        `ELMo`: sentences -> biLM -> scalar mixes, a module to stack another model on
    on_engine   a biLM in torch, read by the engine where that gives the same vectors faster

`model/` and `engine/` do not know each other; this room knows both.
"""
