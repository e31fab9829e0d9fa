"""The paper's tables and figures about ELMo in a model, on any task of `elmo task`: `elmo reproduce`.

A table is a list of systems (`systems`); `grid` trains each with every seed, `claims` compares the outcomes with what
the paper says, `report` and `drawing` show them. Read `experiment` first.
"""
