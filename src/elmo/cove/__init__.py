"""CoVe (McCann et al. 2017), a system that ELMo was compared with: the encoder of a translation system."""
