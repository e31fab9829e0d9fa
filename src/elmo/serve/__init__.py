"""Vectors over HTTP: an ASGI app around an `Embedder`, and the server process that runs it.

A request passes `gate` (Host, keys, foreign pages), is read by `reading` (size, JSON, types), and its tokens wait in
`batcher`, whose one compute thread takes as many as fit into a batch; `routes/` has a file for each path, and
everything that can't be answered is a `Refusal`. `app.create_app` joins these parts and takes further routes, as the
page of `elmo explore` adds them; `server.run` listens, and ends when it is asked to. Read `app` first, then `batcher`.
"""
