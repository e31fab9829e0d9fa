"""Published models by name: their addresses, the transfer, and a folder in the cache that is whole or not there.

`fetch` is what others call; `sources` says which files a name means and where they lie, `transfer` brings one file over
HTTP and resumes it, `unpack` opens an archive within limits. Read `fetch` first.
"""
