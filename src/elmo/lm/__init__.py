"""What a language model says of a text: perplexity, scores of sentences, substitutes for a token.

    language_model     `LanguageModel`: what the others need of a model
    on_engine          it without torch, on the CPU
    in_torch           it in torch, on any device, for models in training too
    perplexity         sentence by sentence, exactly
    bilm_tf_protocol   as bilm-tf measured, with carried state
    named_model        models by name

Read `perplexity` first.
"""
