"""The host's side of sandboxes: it starts the spawner, speaks to it and to inits, and keeps limits and deadlines."""
