"""CoVe's files: the encoder of a translation system (McCann et al. 2017), and the word vectors that it reads."""
