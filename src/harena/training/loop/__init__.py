"""The training loop for SFT and RL, its schedule, algorithms and ledger."""
