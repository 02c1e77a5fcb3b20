"""Scorers: each applies one kind of contract to a candidate, in sandboxes."""
