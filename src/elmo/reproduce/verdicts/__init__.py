"""Whether the paper's claims hold here, given that seeds and test examples are both samples.

`bootstrap` resamples the test examples, `difference` turns scores into a difference with an interval and a p-value,
`decision` corrects the p-values of a table and decides, `claims` lists the claims. Read `difference` first.
"""
