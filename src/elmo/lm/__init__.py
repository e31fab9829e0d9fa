"""What a language model gives for a text: perplexity, scores of sentences, substitutes for a token.

    language_model     `LanguageModel`: what the others need of a model; it on the CPU without torch
    in_torch           it in torch, on any device, for models in training too
    perplexity         sentence by sentence, exactly; and log-probabilities of sentences
    named_model        models by name

Read `perplexity` first.
"""
