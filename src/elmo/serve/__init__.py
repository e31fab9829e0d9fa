"""Vectors over HTTP: an ASGI app around an `Embedder`, and the process that runs it.

A request passes access control (`access`); then its body is read and its texts are split into tokens (`inputs`), which
wait in `batcher` for its one compute thread. The paths are in `routes/`, the ways to write vectors in `encodings`, and
a request that can't be answered raises a `Refusal` (`answers`). `listening` is the process around the app. Read `app`
first, then `batcher`.
"""
