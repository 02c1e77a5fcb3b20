"""What runs inside sandboxes and their templates: standard library only, and nothing of the host's is trusted to it."""
