"""Training: SFT and RL whose rollouts are scored by execution. One loop over a small engine seam.

Everything but `harena.training.engines` runs without torch.
"""

import os

# Before torch is loaded. A thread of GNU OpenMP that waits for its siblings spins for a millisecond or more before it
# sleeps; where several processes compute on the same cores (two jobs, a job and its sandboxes), a sibling that is not
# running is waited for by those that keep it from running. Three samplers on two cores took 4 to 11 s for what takes
# 0.7 s each with a short spin; alone, a sampler takes the same time either way. 1000 is what libgomp takes itself where
# it knows that there are more threads than cores.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
