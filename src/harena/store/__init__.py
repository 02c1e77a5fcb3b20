"""Jobs, runs and events, kept in a database. Knows tables and queries, and nothing of what they mean."""
