"""Text -> tokens -> ids, in numpy alone."""
