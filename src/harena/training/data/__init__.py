"""Rows to learn from: read from files and data sets, and turned into conversations, prompts and tokens."""
