"""Published models by name: downloaded once, into a folder of the cache that is whole or not there.

`fetch` is what others call; `sources` knows the files of a name and their addresses, `transfer` downloads one file over
HTTP, `archive` unpacks one within limits. Read `fetch` first.
"""
