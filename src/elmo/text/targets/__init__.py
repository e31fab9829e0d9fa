"""What a language model predicts for each token, as entries of a vocabulary.

`target_ids` finds the entry of a token: the token itself, a beginning of it, or `<UNK>`; `beginnings` chooses which
beginnings a vocabulary lists. Read `target_ids` first.
"""
