"""Scoring contracts: typed records that say what a candidate must do, with their checks."""
