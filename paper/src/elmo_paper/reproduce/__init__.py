"""The paper's tables and figures about ELMo in a model, on any task of `elmo task`: `elmo-paper reproduce`.

A table is a list of systems (`systems`). `grid` trains each with every seed, in other processes if asked to;
`outcomes` reads the scores, `claims` decides the paper's claims by the statistics of `verdicts`, `record` collects
everything, and `markdown` and `plots` show the record as a page and a picture. `layer_tables` shows the paper's tables
4 to 6 beside a record of an analysis. Read `experiment` first.
"""
