"""Records made readable: a Markdown page (`markdown`, its tables in `tables`) and a picture (`pictures`)."""
