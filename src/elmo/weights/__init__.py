"""Files <-> (config, named tensors). Pure functions, no Module; every quirk of a foreign format lives here only."""
