"""What a language model says of a text: perplexity, scores of sentences, substitutes for a token.

`perplexity` evaluates sentence by sentence and exactly; `bilm_tf_protocol` evaluates as bilm-tf did, with carried
state; `named_model` takes models by name. Read `perplexity` first.
"""
