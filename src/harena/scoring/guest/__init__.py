"""Programs that run in sandboxes beside or around a candidate. Standard library only, Python 3.8 and up."""
