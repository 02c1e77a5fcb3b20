"""The routes of `/v1`, one file per noun. Each is a few lines over the node's operations."""
