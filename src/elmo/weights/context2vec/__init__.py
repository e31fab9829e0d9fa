"""The files of context2vec (Melamud et al. 2016), as its own programs read and write them; begin with `layout`."""
