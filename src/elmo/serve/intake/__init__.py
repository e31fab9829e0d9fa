"""From a connection to a checked request: who may ask (`gate`), how a body is read (`reading`), its texts as tokens
(`inputs`) and where these stand in it (`spans`), and whether the client still waits for the answer (`presence`). Read
`gate` first.
"""
