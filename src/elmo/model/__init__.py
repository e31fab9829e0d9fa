"""The network; each file is one picture of the paper."""
