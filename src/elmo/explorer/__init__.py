"""The explorer page: what a model's layers make of a word in its sentence, as a page in the browser.

All numbers are computed by the library and sent as JSON; the page in `page/` (plain ES modules, SVG, CSS) only draws
them, and asks no other host for anything. `views` computes what each view shows; `explored` joins a model with its
index and what is known of it; `routes` answers the page; `frozen` puts page and answers into one file that needs no
server; `exported` writes a page whose worker, in `local/`, gives the same answers by elmo.js. Read `views` first.
"""
