"""harena: isolated sandboxes, scores and training from execution."""
