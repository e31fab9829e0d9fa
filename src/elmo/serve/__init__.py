"""Vectors over HTTP: an ASGI app around an `Embedder`, and the process that runs it.

A request passes `intake/`: the gate (host, keys, foreign pages), the reading of its body (size, JSON, types), its texts
as tokens. They wait in `batcher`, whose one compute thread takes as many as fit into a batch. `routes/` has a file for
each path, `encodings/` a file for each way in which vectors are written, and whatever can't be answered is a `Refusal`.
`app.create_app` joins all this and takes further routes, as the page of `elmo explore` adds them; `listening/` is the
process around it. Read `app` first, then `batcher`.
"""
