"""The paper's tables and figures about ELMo in a model, on any task of `elmo task`: `elmo-paper reproduce`.

A table is a list of systems (`systems`). `grid` trains each with every seed, in other processes if asked to;
`outcomes` reads the scores, `claims` decides the paper's claims by the statistics of `verdicts`, `record` collects
everything. `layer_claims` decides the claims about tables 4 to 6. Read `experiment` first.
"""
