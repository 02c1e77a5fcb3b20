"""Rollouts: from a prompt to a trajectory with its reward."""
