"""The explorer page: what a model's layers make of a word in its sentence, as a page in the browser.

Every answer is computed in JavaScript, in the page's worker (`local/`), above the layers that an engine gives for some
tokens: WebAssembly in an exported page (`exported`), this process where `elmo explore` serves the page (`served`).
`explored` joins a model with its text and what is known of it; `page_files` makes the one file that both give out.
Read `served` first.
"""
