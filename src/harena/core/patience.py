"""How long a server that does not answer is asked again: its jobs outlive it, and so does waiting for them."""

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0
"""each pause is twice the one before, up to this"""
MOST_AWAY_SECONDS = 600.0
"""longest sum of pauses without any answer; after it the error is raised"""
