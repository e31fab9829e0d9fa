"""The paper's tables and figures about ELMo in a model, on any task of `elmo task`: `elmo reproduce`.

A table is a list of systems (`systems`). `grid` trains each with every seed, `runs` reads what came out, `verdicts`
decides the paper's claims from it, `record` collects everything, and `pages` shows the record as a page and a picture.
Read `experiment` first.
"""
