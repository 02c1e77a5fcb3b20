"""For how long a client retries a server that does not answer: jobs outlive their server, and so may waiting."""

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0
"""each pause is twice the one before, up to this"""
MOST_AWAY_SECONDS = 600.0
"""longest sum of pauses without any answer; after it the error is raised"""
