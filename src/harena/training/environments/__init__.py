"""Environments that a policy works in, turn by turn, and tasks that are verified at the end."""
