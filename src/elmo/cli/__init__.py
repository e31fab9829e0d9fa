"""The command line: `main` finds the verb, each verb's file parses, calls the library and prints."""
