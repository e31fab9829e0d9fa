"""How vectors travel: the media types of an answer, which of them a client takes, and how each is written.

`media_types` reads the header Accept; `numbers` writes an array into JSON; `tensors` and `tables` write whole answers
as safetensors and as an Arrow stream. Read `media_types` first.
"""
