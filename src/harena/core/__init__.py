"""The nouns, ports and errors that every room shares. Imports nothing of ours and nothing but the standard library."""
