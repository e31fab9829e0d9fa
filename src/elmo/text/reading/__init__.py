"""Reading text as people have it: sentences with their places, by one set of settings for everything that reads text.

`settings` has the choices, `placed` the sentences that they give, and `spans` finds each token in its text.
"""
