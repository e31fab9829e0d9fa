"""The command line of `elmo-paper`: `main` lists its verbs, each of which is the module of its name in `verbs`."""
