"""Text files as bytes, and their bytes as lines, within limits.

`text_file` opens them, plain or packed, and knows their formats by their names; `lines` reads them line by line;
`decoding` decodes the lines.
"""
