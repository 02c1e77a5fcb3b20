"""Requests for training jobs: typed and strict, checked before any work is done, and turned into plans."""
