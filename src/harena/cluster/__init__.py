"""A Ray cluster that people already run: where it is, and workers on its nodes that are replaced when they are lost."""
