"""Training: SFT and RL whose rollouts are scored by execution. One loop over a small engine seam.

Everything but `harena.training.engines` runs without torch.
"""
