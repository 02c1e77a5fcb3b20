"""The command line: thin calls into the public sdk."""
