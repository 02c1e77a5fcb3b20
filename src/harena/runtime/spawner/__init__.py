"""The process that makes templates and sandboxes: one for each node, single-threaded, without policy."""
