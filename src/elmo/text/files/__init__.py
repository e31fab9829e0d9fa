"""Text files as bytes, and their bytes as lines, within limits.

`text_file` opens them, plain or packed, and knows their formats by their names; `limits` bounds what is read of them;
`decoding` makes lines of their bytes.
"""
