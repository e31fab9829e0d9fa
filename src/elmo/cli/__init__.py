"""The command line: `main` finds the verb in `verbs`; the other files are what verbs share (flags, inputs, reports)."""
