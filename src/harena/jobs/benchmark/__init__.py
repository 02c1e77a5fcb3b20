"""Benchmark jobs: what one is accepted as, who owns it, and what is written of it."""
