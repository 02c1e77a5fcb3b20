"""Engines: who does the numbers. The only modules of harena that import torch."""
