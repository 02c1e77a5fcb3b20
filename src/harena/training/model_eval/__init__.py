"""Evaluating a model: its answers to the problems of a data set, sampled, kept in a file, and made into scenarios."""
