"""Benchmark jobs: what is accepted, what runs next, what is retried, and the worker that runs it."""
