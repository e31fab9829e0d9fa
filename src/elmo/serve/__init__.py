"""Vectors over HTTP: an ASGI app around an `Embedder`, and the process that runs it.

A request passes access control (`access`: host, keys, foreign pages); then its body is read and its texts are split
into tokens (`inputs`). They wait in `batcher`, whose one compute thread takes as many as fit into a batch. The paths
are in `routes/`, the ways to write vectors in `encodings`, and a request that can't be answered raises a `Refusal`
(`answers`). `app.create_app` joins all this and takes further routes, such as those of `elmo explore`; `listening` is
the process around it. Read `app` first, then `batcher`.
"""
