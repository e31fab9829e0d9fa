"""A thin file for each verb of `elmo-paper`, as in `elmo.cli.verbs`: its flags as a dataclass, and `main(argv)`."""
