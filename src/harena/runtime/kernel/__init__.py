"""One node's sandboxes."""
